//! Which of several counts of one task stands: the one rule for a run, a second count and a merge.

use super::Tally;

/// What the counts of one task say together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict<W> {
    /// The count at this position stands: more counts agree with it than with any other, or it is the only one.
    Stands(usize),
    /// Nobody can say which one is right: a further count has to decide.
    Open,
    /// No two agree, and this one made several of them: nothing that it counted is believed.
    Contradicts(W),
}

/// Decides between `counts`, each with who made it if that is known.
///
/// Two counts that agree are believed whoever made them: whoever asks for a count has it made elsewhere or by another
/// kernel. It makes a difference only where none agree.
pub fn verdict<W: Copy + PartialEq>(counts: &[(Option<W>, &Tally)]) -> Verdict<W> {
    let agreeing = |(_, tally): &(_, &Tally)| {
        let agree = counts.iter().filter(|(_, other)| other.agrees_with(tally));
        agree.count()
    };
    let votes: Vec<usize> = counts.iter().map(agreeing).collect();
    let most = votes.iter().copied().max().unwrap_or(0);
    // Of a count that others agree with, each of these has as many votes: more of them are of two counts.
    let leading: Vec<usize> = (0..votes.len()).filter(|&at| votes[at] == most).collect();
    if let Some(&first) = leading.first().filter(|_| leading.len() == most) {
        return Verdict::Stands(first);
    }
    let makers: Vec<W> = counts.iter().filter_map(|(maker, _)| *maker).collect();
    let twice = |maker: &&W| makers.iter().filter(|other| other == maker).count() > 1;
    match makers.iter().find(twice) {
        Some(maker) if most == 1 && makers.iter().any(|other| other != maker) => {
            Verdict::Contradicts(*maker)
        }
        _ => Verdict::Open,
    }
}

#[cfg(test)]
mod tests {
    use super::Verdict::{Contradicts, Open, Stands};
    use super::*;

    /// Each count is a letter for who made it, a dash if nobody knows, and a digit for what came out.
    const CASES: [(&str, Verdict<char>); 19] = [
        ("", Open),
        ("a1", Stands(0)),
        ("a1 b1", Stands(0)),
        ("a1 a1", Stands(0)),
        ("-1 a1", Stands(0)),
        ("a1 b2", Open),
        // There is nobody whose word is worth more.
        ("a1 a2", Open),
        ("a1 b2 c1", Stands(0)),
        ("a1 b2 c2", Stands(1)),
        ("a1 b2 b2", Stands(1)),
        ("a1 a2 a2", Stands(1)),
        ("a1 b2 c3", Open),
        ("a1 b2 a3", Contradicts('a')),
        ("a1 b2 b3", Contradicts('b')),
        ("a1 a2 a3", Open),
        // Another process may have counted anywhere.
        ("-1 a2 a3", Open),
        ("a1 b2 c3 d3", Stands(2)),
        ("a1 b2 c1 d2", Open),
        ("a1 b1 c2 d2 d2", Stands(2)),
    ];

    #[test]
    fn every_case_has_its_verdict() {
        for (counts, expected) in CASES {
            let tallies = counts.split_whitespace().map(|count| Tally {
                partitions: count[1..].parse().unwrap(),
                ..Tally::default()
            });
            let tallies: Vec<_> = tallies.collect();
            let makers = counts.split_whitespace().map(|count| count.chars().next());
            let makers = makers.map(|maker| maker.filter(|maker| *maker != '-'));
            let counts_of: Vec<_> = makers.zip(&tallies).collect();
            assert_eq!(verdict(&counts_of), expected, "{counts}");
        }
    }
}
