//! A result as comma-separated values ([RFC 4180](https://www.rfc-editor.org/rfc/rfc4180), with line feeds alone).

use crate::job::JobResult;

/// The names of the columns: those of `--json`. What was not counted is empty.
pub const HEADER: &str = "n,queens,holes,total,unique,r180,r90,engine,isa,workers,nodes,seconds,cpu_seconds,checked,version";

/// The row of one board.
pub fn row(result: &JobResult) -> String {
    let outcome = &result.outcome;
    let symmetric = outcome.symmetric;
    let text = |number: Option<u128>| number.map_or_else(String::new, |number| number.to_string());
    // A list of squares has commas, and no quotes.
    let [queens, holes] = outcome
        .given
        .names()
        .map(|names| match names.contains(',') {
            true => format!("\"{names}\""),
            false => names,
        });
    [
        outcome.n.to_string(),
        queens,
        holes,
        outcome.total.to_string(),
        text(outcome.unique()),
        text(symmetric.map(|symmetric| symmetric.r180)),
        text(symmetric.map(|symmetric| symmetric.r90)),
        result.plan.engine().name().to_owned(),
        result.kernel.to_owned(),
        result.workers.to_string(),
        result.report.nodes().to_string(),
        result.elapsed.as_secs_f64().to_string(),
        result.cpu.as_secs_f64().to_string(),
        result.checked.to_string(),
        env!("CARGO_PKG_VERSION").to_owned(),
    ]
    .join(",")
}
