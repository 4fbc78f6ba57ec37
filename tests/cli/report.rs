//! The report of a run as a page, and as JSON.

use std::fs;
use std::path::{Path, PathBuf};

use queenfold::actors::FaultyWorker;
use queenfold::engine::WorkerId;
use queenfold_ledger::ledger::{Session, Store};
use serde_json::Value as Json;

use crate::common::program::{output, printed, queenfold, refusal, stdout, tells, words};
use crate::common::text_of;

/// The page of the run in `dir`.
fn page(dir: &Path) -> String {
    stdout(&["report", dir.to_str().unwrap()]);
    fs::read_to_string(dir.join("report.html")).unwrap()
}

/// Counts n queens in a directory below `folder`.
fn counted(folder: &Path, n: u32) -> PathBuf {
    let dir = folder.join(format!("n{n}"));
    let n = n.to_string();
    stdout(&words!(
        "run -n {} --dir {} --workers 2",
        &n,
        dir.to_str().unwrap()
    ));
    dir
}

/// A page loads nothing and runs nothing.
fn assert_alone(page: &str) {
    for foreign in words!("<script http: https: src= url( @import javascript:") {
        let known = ["http://www.w3.org/2000/svg"];
        let rest = known
            .iter()
            .fold(page.to_owned(), |page, known| page.replace(known, ""));
        assert!(!rest.contains(foreign), "{foreign}");
    }
}

#[test]
fn a_finished_run_is_shown_with_its_result_and_its_drawings() {
    let folder = tempfile::tempdir().unwrap();
    let dir = counted(folder.path(), 16);
    let html = page(&dir);
    for part in [
        "<main>",
        "<b>14,772,512</b>",
        "<b>1,846,955</b>",
        "<b>known</b>",
        "<td data-column=\"unique\">734</td>",
        "<td data-column=\"symmetry\">half turn</td>",
        "workers = 2 ",
        "# flag --workers",
        "queenfold run -n 16 --engine",
        "<th scope=\"col\">",
    ] {
        assert!(html.contains(part), "{part}");
    }
    // A board and a map. All have titles.
    assert!(html.matches("<svg").count() >= 2);
    assert_eq!(
        html.matches("<svg").count(),
        html.matches(" role=\"img\"").count()
    );
    assert_eq!(
        html.matches("<svg").count(),
        html.matches("><title>").count()
    );
    // A cell of the map for each task.
    assert_eq!(html.matches("h.9v0.9h-.9z").count(), 32);
    // It takes less time than its records are exact.
    assert!(html.contains("too short for drawings over time"));
    assert_alone(&text_of("docs/report-n20.html"));
    assert_alone(&html);
    // The task of the census is counted by a kernel of its own, by whichever worker.
    let tasks: Vec<_> = shares(&html).map(|row| row[2].1.clone()).collect();
    assert_eq!(tasks, ["32", "1"]);
    let record = stdout(&["report", dir.to_str().unwrap(), "--json"]);
    let record: Json = serde_json::from_str(&record).unwrap();
    assert_eq!(record["result"]["total"], "14772512");
    assert_eq!(record["result"]["classes"]["c2"], "32");
    assert!(html.contains(record["signature"].as_str().unwrap()));
    let row = record["record"].as_str().unwrap();
    assert!(row.starts_with("| 16 | known | "), "{row}");
    let table = text_of("docs/RECORDS.md");
    let columns = table
        .lines()
        .find(|line| line.starts_with("| n | total |"))
        .unwrap();
    assert_eq!(row.matches('|').count(), columns.matches('|').count());
}

#[test]
fn a_run_that_is_not_finished_says_how_to_go_on_and_gives_no_total() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("n 24");
    let stopped = output(&words!(
        "run -n 24 --time-limit 2 --dir {}",
        dir.to_str().unwrap()
    ));
    assert_eq!(stopped.status.code(), Some(4));
    let html = page(&dir);
    tells(&html, &["The run is stopped, and there is no total yet"]);
    assert!(html.contains("queenfold resume"), "{html}");
    assert!(
        html.contains("no signature yet") && !html.contains("Whoever repeats"),
        "{html}"
    );
    // A board says nothing of a run that goes on, and every process begins alike.
    for none in ["<h2>Solutions", "planning"] {
        assert!(!html.contains(none), "{none}");
    }
    assert_alone(&html);
    let printed = stdout(&["report", dir.to_str().unwrap(), "-o", "-"]);
    assert!(printed.starts_with("<!DOCTYPE html>") && printed.ends_with("</html>\n"));
    let json: Json =
        serde_json::from_str(&stdout(&["report", dir.to_str().unwrap(), "--json"])).unwrap();
    assert_eq!(
        (&json["total"], &json["record"]),
        (&Json::Null, &Json::Null)
    );
}

/// Changes what the sessions of a directory say.
fn edit_sessions(dir: &Path, edit: impl Fn(&mut Session)) {
    let store = Store::open_to_write(dir).unwrap();
    store.begin().unwrap();
    for mut session in store.sessions().unwrap() {
        edit(&mut session);
        store.put_session(&session).unwrap();
    }
    store.commit().unwrap();
}

/// The cells of a row of a table, by the names of their columns.
fn cells(row: &str) -> Vec<(String, String)> {
    let cells = row.split("<td data-column=\"").skip(1);
    let cell = |cell: &str| {
        let (column, rest) = cell.split_once("\">").unwrap();
        (
            column.to_owned(),
            rest.split_once("</td>").unwrap().0.to_owned(),
        )
    };
    cells.map(cell).collect()
}

/// The rows of the table of what each kernel did.
fn shares(page: &str) -> impl Iterator<Item = Vec<(String, String)>> {
    let (_, table) = page.split_once("Who counted how much").unwrap();
    let (table, _) = table.split_once("</table>").unwrap();
    table.split("<tr>").skip(2).map(cells)
}

#[test]
fn a_run_of_several_hosts_says_what_each_did_as_its_status_does() {
    let folder = tempfile::tempdir().unwrap();
    let part = |shard: u64, host: &str| {
        let dir = folder.path().join(host);
        let name = dir.to_str().unwrap();
        let shard = format!("{shard}/2");
        stdout(&["run", "-n", "17", "--shard", &shard, "--dir", name]);
        edit_sessions(&dir, |session| {
            session.facts.host = host.to_owned();
            session.elapsed = std::time::Duration::from_secs(10);
            if host == "anna" {
                session.facts.devices = vec!["an <old> GPU".to_owned()];
                session.facts.faulty = vec![FaultyWorker {
                    worker: WorkerId::Cpu(0),
                    counted_by: None,
                    reason: "a canary differed".to_owned(),
                    suspects: 1,
                }];
            }
        });
        dir
    };
    let parts = [part(0, "anna"), part(1, "bob")];
    let both = folder.path().join("both");
    let dirs = [&both, &parts[0], &parts[1]].map(|dir| dir.to_str().unwrap());
    stdout(&["gather", "--into", dirs[0], dirs[1], dirs[2]]);

    let html = page(&both);
    let rows: Vec<_> = shares(&html).collect();
    let status: Json = serde_json::from_str(&stdout(&["status", dirs[0], "--json"])).unwrap();
    let hosts = status["hosts"].as_array().unwrap();
    assert_eq!(hosts.len(), 2, "{status}");
    for host in hosts {
        let name = host["host"].as_str().unwrap();
        // By the workers of the plan and by those of the census, which may use different kernels.
        let its = rows.iter().filter(|row| row[0].1 == name);
        let tasks = its.clone().map(|row| row[2].1.parse::<u64>().unwrap());
        assert_eq!(host["tasks"], tasks.sum::<u64>(), "{rows:?}");
        assert!(
            its.clone().all(|row| row[4].1.ends_with("node/s")),
            "{rows:?}"
        );
    }
    for page in [&html, &text_of("docs/report-n20.html")] {
        let (_, lanes) = page.split_once("When each worker counted").unwrap();
        let (lanes, _) = lanes.split_once("</figure>").unwrap();
        let is_weaker = lanes.contains("fill=\"#1F77B4\" fill-opacity=\"0.");
        assert_eq!(lanes.contains("Weaker"), is_weaker, "{lanes}");
    }
    for part in ["an &lt;old&gt; GPU", "<dt>faulty</dt><dd>worker-0 on anna"] {
        assert!(html.contains(part), "{part}");
    }
}

#[test]
fn a_page_that_cannot_be_written_is_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("n8");
    stdout(&["run", "-n", "8", "--dir", dir.to_str().unwrap()]);
    let failed = output(&words!(
        "report {} -o no/such/folder/report.html",
        dir.to_str().unwrap()
    ));
    assert_eq!(failed.status.code(), Some(1));
    let said = printed(&failed.stderr);
    tells(&said, &["report no/such/folder/report.html: "]);
    assert_eq!(said.lines().count(), 1, "{said}");
}

#[test]
fn a_page_stays_with_its_run_and_never_takes_the_place_of_another_file() {
    let folder = tempfile::tempdir().unwrap();
    let [one, other] = [8, 9].map(|n| counted(folder.path(), n));
    let report = |dir: &Path, file: &Path| {
        let [dir, file] = [dir, file].map(|path| path.to_str().unwrap());
        queenfold(&["report", dir, "-o", file])
    };
    let pages = [&one, &other].map(|dir| page(dir));
    assert_ne!(pages[0], pages[1]);
    // Its own page is replaced, whatever it is called.
    let file = folder.path().join("page.html");
    for _ in 0..2 {
        let said = report(&one, &file).output().unwrap();
        assert_eq!(said.status.code(), Some(0), "{said:?}");
        assert!(printed(&said.stderr).contains("page.html"), "{said:?}");
    }
    let foreign = folder.path().join("notes.txt");
    fs::write(&foreign, "mine").unwrap();
    for there in [&file, &foreign, &one.join("report.html")] {
        let before = fs::read(there).unwrap();
        let line = refusal(&mut report(&other, there), 2);
        assert!(line.contains("no report of this run"), "{line}");
        assert_eq!(fs::read(there).unwrap(), before);
    }
}
