//! What `bench --gpu` has measured, as JSON and as text.

use std::fmt::Write;

use serde::Serialize;

use super::draft::Measured;
use crate::bench::{BoardResult, MixedResult};
use queenfold::device::Properties;

/// Everything that was measured, in the form of the JSON.
#[derive(Debug, Serialize)]
pub struct BenchReport {
    pub device: Properties,
    pub boards: Vec<BoardReport>,
    /// `None` until it is measured.
    pub mixed: Option<MixedResult>,
    /// Why it ended early; `None` if everything was measured.
    pub error: Option<String>,
}

/// A board, and how its kernel fits on the device.
#[derive(Debug, Serialize)]
pub struct BoardReport {
    #[serde(flatten)]
    pub result: BoardResult,
    /// The kernel that counted.
    pub program: String,
    pub registers: u32,
    pub warps_per_multiprocessor: u32,
}

impl Measured for BenchReport {
    fn end(&mut self, error: Option<&str>) {
        self.error = error.map(str::to_owned);
    }

    fn in_words(&self) -> String {
        let mut text = format!("{}, {}\n", self.device.identity.name, self.device.driver);
        let _ = writeln!(text, "\n  n  engine    kernel s      wall s    busy");
        for BoardReport { result, .. } in &self.boards {
            let _ = writeln!(
                text,
                "{:>3}  {:<6}  {:>10.4}  {:>10.4}  {:>6.4}",
                result.n,
                result.engine.name(),
                result.kernel_seconds,
                result.seconds,
                result.busy
            );
        }
        if let Some(mixed) = &self.mixed {
            text.push_str(&in_words(mixed));
        }
        text
    }
}

/// One line for each round.
fn in_words(mixed: &MixedResult) -> String {
    let mut text = format!(
        "\nn = {}, CPU workers: {}\n\
         \n    device s       CPU s     mixed s  by device    skew s\n",
        mixed.n, mixed.workers
    );
    for round in 0..mixed.mixed_seconds.len() {
        let least = if mixed.cpu_cut_off[round] { ">" } else { "" };
        let cpu = format!("{least}{:.4}", mixed.cpu_seconds[round]);
        let _ = writeln!(
            text,
            "  {:>10.4}  {cpu:>10}  {:>10.4}  {:>7.1} %  {:>8.4}",
            mixed.device_seconds[round],
            mixed.mixed_seconds[round],
            100.0 * mixed.mixed_device_share[round],
            mixed.mixed_skew_seconds[round],
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rounds_stand_in_columns_and_a_run_that_was_stopped_is_marked() {
        let mixed = MixedResult {
            n: 20,
            workers: 16,
            cpu_seconds: vec![5.0, 4.25],
            cpu_cut_off: vec![true, false],
            device_seconds: vec![1.0, 12.5],
            mixed_seconds: vec![0.875, 0.75],
            mixed_device_share: vec![0.9, 1.0],
            mixed_skew_seconds: vec![0.0625, 0.0],
        };
        let text = in_words(&mixed);
        let lines: Vec<_> = text.lines().skip(3).collect();
        assert_eq!(
            lines,
            [
                "    device s       CPU s     mixed s  by device    skew s",
                "      1.0000     >5.0000      0.8750     90.0 %    0.0625",
                "     12.5000      4.2500      0.7500    100.0 %    0.0000",
            ]
        );
    }
}
