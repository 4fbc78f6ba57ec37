//! Tests of the rechecker: what it asks for when counts differ, canaries are wrong or sums contradict.

use std::time::Duration;

use super::*;
use crate::board::Size;
use crate::chain::ChainPlan;
use crate::engine::{Origin, Tally, WorkerId};

const PLAN: PlanIndex = PlanIndex(0);
const A: WorkerIndex = WorkerIndex(0);
const B: WorkerIndex = WorkerIndex(1);
const C: WorkerIndex = WorkerIndex(2);

fn rechecker(workers: usize) -> Rechecker {
    checked(workers, false)
}

/// With a check at the end that only right sums pass, or wrong ones, too.
fn checked(workers: usize, is_exact: bool) -> Rechecker {
    let plan = ChainPlan::new(Size::new(8).unwrap());
    let roster = Arc::new(Roster::new(workers, 0..0));
    let check = SumCheck::new(is_exact, |_| Ok(()));
    Rechecker::new(vec![Arc::new(plan)], roster, true, Some(&check))
}

/// What a worker says that it counted of a task, by which kernel.
fn count(rechecker: &Rechecker, by: (WorkerIndex, &str), task: u64, r90: u128) -> Costed {
    let result = TaskResult {
        key: rechecker.plans[0].key(task),
        tally: Tally {
            r90,
            ..Tally::default()
        },
        origin: Origin {
            worker: WorkerId::Cpu(by.0.0),
            counted_by: CountedBy::Cpu(by.1.to_owned().into()),
        },
        audited_by: None,
        duration: Duration::from_millis(1),
    };
    Costed::again(result, 1.0)
}

/// What comes of such a count, in short.
fn hear(rechecker: &mut Rechecker, worker: WorkerIndex, task: u64, r90: u128) -> Vec<String> {
    let costed = count(rechecker, (worker, "scalar"), task, r90);
    in_short(rechecker.hear(worker, PLAN, costed))
}

fn in_short(effects: Vec<Effect>) -> Vec<String> {
    let short = |effect| match effect {
        Effect::Sum(worker, _, Costed { result, .. }) => {
            let audited = result.audited_by.map_or("", |_| ", audited");
            format!("sum {} of {}{audited}", result.key.index, worker.0)
        }
        Effect::Recount(Batch {
            tasks, only, again, ..
        }) => {
            let (only, not_by) = (only.map(|worker| worker.0), again.unwrap());
            format!("recount {tasks:?} on {only:?} not by {}", not_by.len())
        }
        Effect::Replace { wrong, right, .. } => {
            format!("replace {} by {}", wrong.tally.r90, right.tally.r90)
        }
        Effect::Faulty(faulty, _) => {
            format!("faulty {}, {} suspects", faulty.worker, faulty.suspects)
        }
        Effect::Withdraw(_, result) => format!("withdraw {}", result.key.index),
        Effect::Fail(error) => format!("fail: {error}"),
        Effect::Drop(..) => "drop".to_owned(),
        Effect::Retry(_, task, _) => format!("retry {task}"),
        Effect::CountedTwice(_, task) => format!("twice {task}"),
        Effect::AuditTook(..) => "audit took".to_owned(),
        Effect::Correct(_) => "correct".to_owned(),
        Effect::Tell(_) => "tell".to_owned(),
        Effect::Done => "done".to_owned(),
    };
    effects.into_iter().map(short).collect()
}

#[test]
fn what_was_counted_since_the_last_good_canary_is_counted_elsewhere() {
    let mut rechecker = rechecker(3);
    assert_eq!(hear(&mut rechecker, A, 0, 1), ["sum 0 of 0"]);
    rechecker.passed_canary(A);
    hear(&mut rechecker, A, 1, 1);
    hear(&mut rechecker, A, 2, 1);
    let effects = in_short(rechecker.failed_canary(A, "wrong".to_owned()));
    let recount = "recount [1, 2] on None not by 0";
    assert_eq!(effects, ["faulty worker-0, 2 suspects", recount]);
    assert!(rechecker.roster.is_retired(A));
    // Nothing comes of what it says from now on.
    assert_eq!(hear(&mut rechecker, A, 3, 1), ["drop", "retry 3"]);
    assert_eq!(hear(&mut rechecker, B, 1, 1), ["twice 1"]);
    // The other one was wrong: a third count says so.
    let third = "recount [2] on Some(2) not by 2";
    assert_eq!(hear(&mut rechecker, B, 2, 5), [third]);
    let corrected = hear(&mut rechecker, C, 2, 5);
    assert_eq!(corrected, ["replace 1 by 5", "correct", "tell"]);
    let none = || unreachable!("nothing contradicts the sums");
    assert_eq!(in_short(rechecker.check(None, none)), ["done"]);
}

#[test]
fn an_audit_is_summed_once_both_counts_agree() {
    let mut rechecker = rechecker(2);
    let mut first = count(&rechecker, (A, "scalar"), 0, 1);
    first.audit = Some(Duration::ZERO);
    let asked = in_short(rechecker.hear(A, PLAN, first));
    assert_eq!(asked, ["recount [0] on Some(1) not by 1"]);
    let second = count(&rechecker, (B, "other"), 0, 1);
    let effects = in_short(rechecker.hear(B, PLAN, second));
    assert_eq!(effects, ["audit took", "tell", "sum 0 of 0, audited"]);
}

#[test]
fn a_count_that_two_others_refute_is_not_summed_and_its_worker_is_faulty() {
    let mut rechecker = rechecker(2);
    let mut first = count(&rechecker, (A, "scalar"), 0, 1);
    first.audit = Some(Duration::ZERO);
    rechecker.hear(A, PLAN, first);
    let asked = hear(&mut rechecker, B, 0, 2);
    // Of two workers that differ, the second counts once more.
    let again = "recount [0] on Some(1) not by 2";
    assert_eq!(asked, ["sum 0 of 0", again]);
    let third = count(&rechecker, (B, "other"), 0, 1);
    let effects = in_short(rechecker.hear(B, PLAN, third));
    let faulty = "faulty worker-1, 0 suspects";
    assert_eq!(effects, ["twice 0", "correct", "tell", faulty]);
}

#[test]
fn what_a_worker_that_contradicts_itself_has_counted_is_replaced_in_the_sum() {
    let mut rechecker = rechecker(3);
    let mut first = count(&rechecker, (A, "scalar"), 0, 1);
    first.audit = Some(Duration::ZERO);
    rechecker.hear(A, PLAN, first);
    let asked = hear(&mut rechecker, B, 0, 2);
    let third = "recount [0] on Some(2) not by 2";
    assert_eq!(asked, ["sum 0 of 0", third]);
    let contradiction = count(&rechecker, (A, "other"), 0, 3);
    let effects = in_short(rechecker.hear(A, PLAN, contradiction));
    let faulty = "faulty worker-0, 0 suspects";
    let again = "recount [0] on Some(2) not by 0";
    assert_eq!(effects, [faulty, again]);
    let costed = count(&rechecker, (C, "other"), 0, 2);
    let effects = rechecker.hear(C, PLAN, costed);
    let recorded = effects.iter().find_map(|effect| match effect {
        Effect::Correct(correction) => Some(correction.recorded.tally.r90),
        _ => None,
    });
    assert_eq!(recorded, Some(1));
    assert_eq!(in_short(effects), ["correct", "replace 1 by 2", "tell"]);
}

#[test]
fn without_anybody_left_the_run_fails_and_withdraws_what_is_open() {
    let mut rechecker = rechecker(1);
    hear(&mut rechecker, A, 0, 1);
    let effects = in_short(rechecker.failed_canary(A, "wrong".to_owned()));
    assert_eq!(effects[0], "faulty worker-0, 1 suspects");
    assert!(effects[1].starts_with("fail: ") && effects.len() == 2);
    assert_eq!(in_short(rechecker.end()), ["withdraw 0"]);
}

#[test]
fn sums_that_contradict_are_searched_until_nothing_is_left() {
    let mut rechecker = rechecker(2);
    for task in 0..20 {
        hear(&mut rechecker, A, task, 1);
    }
    let mut again = Vec::new();
    loop {
        let contradicted = Some("no".to_owned());
        let effects = rechecker.check(contradicted, Vec::new);
        let Some(Effect::Recount(asked)) = effects.into_iter().next_back() else {
            break;
        };
        assert_eq!(asked.only, Some(B));
        for task in asked.tasks {
            hear(&mut rechecker, B, task, 1);
            again.push(task);
        }
    }
    again.sort_unstable();
    assert_eq!(again, (0..20).collect::<Vec<_>>());
    let failed = in_short(rechecker.check(Some("no".to_owned()), Vec::new));
    assert!(failed[0].contains("again elsewhere, with the same results: 20 of"));
}

/// Lets the only worker, which counted tasks 0 to 19 as 1, count one of them as 2 by two other kernels in the
/// search for wrong counts.
fn search_finds_one(is_exact: bool) -> (Rechecker, Vec<String>) {
    let mut rechecker = checked(1, is_exact);
    for task in 0..20 {
        hear(&mut rechecker, A, task, 1);
    }
    let effects = rechecker.check(Some("no".to_owned()), Vec::new);
    let Some(Effect::Recount(asked)) = effects.into_iter().next_back() else {
        panic!("nothing is counted again");
    };
    let task = asked.tasks[0];
    let mut told = Vec::new();
    for kernel in ["other", "third"] {
        let again = count(&rechecker, (A, kernel), task, 2);
        told = in_short(rechecker.hear(A, PLAN, again));
    }
    for &task in &asked.tasks[1..] {
        let again = count(&rechecker, (A, "other"), task, 1);
        in_short(rechecker.hear(A, PLAN, again));
    }
    (rechecker, told)
}

#[test]
fn the_last_worker_is_believed_only_if_nothing_but_right_sums_pass() {
    let (mut rechecker, told) = search_finds_one(true);
    assert_eq!(told[3], "faulty worker-0, 0 suspects");
    assert_eq!(told.len(), 4);
    let none = || unreachable!("the search has begun");
    assert_eq!(in_short(rechecker.check(None, none)), ["done"]);
    // Nobody is left to search on.
    rechecker.roster.retire(A);
    let failed = in_short(rechecker.failed_canary(A, "wrong".to_owned()));
    assert!(failed[0].starts_with("fail: "), "{failed:?}");
    assert_eq!(rechecker.end().len(), 19);

    let (mut rechecker, told) = search_finds_one(false);
    assert_eq!(told[3], "faulty worker-0, 18 suspects");
    assert!(told[4].starts_with("fail: "), "{told:?}");
    assert_eq!(rechecker.end().len(), 19);
}

#[test]
fn what_was_corrected_since_a_search_began_is_corrected_once() {
    let mut rechecker = rechecker(3);
    for (worker, tasks) in [(A, 0..40), (B, 40..80)] {
        for task in tasks {
            hear(&mut rechecker, worker, task, 1);
        }
    }
    // A is wrong in all tasks, B in none: the sums contradict until all of A are corrected, and then for ever.
    let right = |task| if task < 40 { 2 } else { 1 };
    let mut replaced = 0;
    loop {
        let mut asked = rechecker.check(Some("no".to_owned()), Vec::new);
        if matches!(asked.last(), Some(Effect::Fail(_))) {
            break;
        }
        while let Some(effect) = asked.pop() {
            match effect {
                Effect::Recount(recount) => {
                    for task in recount.tasks {
                        let by = recount.only.unwrap_or(B);
                        let again = count(&rechecker, (by, "other"), task, right(task));
                        asked.extend(rechecker.hear(by, PLAN, again));
                    }
                }
                Effect::Replace { .. } => replaced += 1,
                _ => {}
            }
        }
    }
    assert_eq!(replaced, 40);
}

#[test]
fn the_last_worker_is_not_asked_for_ever_for_what_it_counts_otherwise_each_time() {
    let mut rechecker = checked(2, true);
    hear(&mut rechecker, A, 0, 1);
    rechecker.check(Some("no".to_owned()), Vec::new);
    rechecker.failed_canary(A, "wrong".to_owned());
    let said = (0..6).map(|again| {
        let by = ["scalar", "other"][again % 2];
        let costed = count(&rechecker, (B, by), 0, 2 + again as u128);
        in_short(rechecker.hear(B, PLAN, costed))
    });
    let failed = said.flatten().skip_while(|effect| effect != "correct");
    let failed: Vec<_> = failed.collect();
    assert!(failed[1].contains("three counts differ"), "{failed:?}");
}

#[test]
fn a_task_that_only_its_first_worker_and_kernel_can_count_is_not_asked_for_for_ever() {
    let mut rechecker = rechecker(2);
    let mut first = count(&rechecker, (A, "function"), 0, 1);
    first.audit = Some(Duration::ZERO);
    rechecker.hear(A, PLAN, first);
    rechecker.failed_canary(B, "wrong".to_owned());
    let counted = |rechecker: &mut Rechecker, by| {
        let again = count(rechecker, (by, "function"), 0, 1);
        in_short(rechecker.hear(by, PLAN, again))
    };
    let asked = counted(&mut rechecker, B);
    assert_eq!(asked, ["drop", "recount [0] on Some(0) not by 1"]);
    let effects = counted(&mut rechecker, A);
    assert_eq!(effects, ["audit took", "tell", "sum 0 of 0, audited"]);
}

#[test]
fn a_second_count_that_comes_to_nothing_is_asked_for_again_by_no_kernel_that_counted_it() {
    let mut rechecker = rechecker(3);
    let mut first = count(&rechecker, (A, "scalar"), 0, 1);
    first.audit = Some(Duration::ZERO);
    let asked = |worker: usize| [format!("recount [0] on Some({worker}) not by 1")];
    assert_eq!(in_short(rechecker.hear(A, PLAN, first)), asked(1));
    let key = rechecker.plans[0].key(0);
    assert!(rechecker.is_open(&key));
    assert_eq!(in_short(rechecker.failed_again(B, &key)), asked(2));
    // There is nobody else.
    rechecker.roster.retire(C);
    assert_eq!(in_short(rechecker.failed_again(B, &key)), asked(1));
}
