//! What a run costs in energy and money.

use serde_json::{Value, json};

use crate::estimate::{Interval, Total};
use crate::telemetry::two_digits;

/// What the user knows of power and prices.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct Prices {
    /// Power of the machine while all workers count, in watts: prints the energy
    #[arg(long, value_name = "W", value_parser = amount, allow_hyphen_values = true)]
    watts: Option<f64>,

    /// Price of a core-hour or, with --watts, of a kWh: prints what the run costs
    #[arg(long, value_name = "P", value_parser = amount, allow_hyphen_values = true)]
    price: Option<f64>,
}

fn amount(text: &str) -> Result<f64, String> {
    let amount = text.parse().ok();
    let amount = amount.filter(|amount: &f64| amount.is_finite() && *amount > 0.0);
    amount.ok_or_else(|| "expected a number above 0, such as 0.25".to_owned())
}

impl Prices {
    /// Whether anything is known.
    pub const fn are_given(self) -> bool {
        self.watts.is_some() || self.price.is_some()
    }

    /// The energy of a run in kWh.
    fn energy(self, total: &Total, workers: usize) -> Option<Interval> {
        let kilowatts = self.watts? / 1000.0;
        Some(total.wall_seconds(workers).scaled(kilowatts / 3600.0))
    }

    /// The price of a run.
    fn price(self, total: &Total, workers: usize) -> Option<Interval> {
        let priced = self.energy(total, workers);
        let priced = priced.unwrap_or_else(|| total.core_seconds.scaled(1.0 / 3600.0));
        Some(priced.scaled(self.price?))
    }

    /// The lines of the answer, with what the intervals are.
    pub fn lines(self, total: &Total, workers: usize, intervals: &str) -> Vec<String> {
        let interval = |of: Interval, unit: &str| {
            format!(
                "{}{unit}, {intervals}: {} to {}",
                two_digits(of.expected),
                two_digits(of.low),
                two_digits(of.high)
            )
        };
        let mut lines = Vec::new();
        if let (Some(watts), Some(energy)) = (self.watts, self.energy(total, workers)) {
            lines.push(format!(
                "energy      {}, at {watts} W",
                interval(energy, " kWh")
            ));
        }
        if let (Some(price), Some(of_run)) = (self.price, self.price(total, workers)) {
            let unit = match self.watts {
                Some(_) => "kWh",
                None => "core-hour",
            };
            lines.push(format!(
                "price       {}, at {price} a {unit}",
                interval(of_run, "")
            ));
        }
        lines
    }

    /// Adds them to an object of the answer in JSON; `null` where they are not known.
    pub fn add_to(self, record: &mut Value, total: Option<&Total>, workers: usize) {
        let interval =
            |of: Interval| json!({"low": of.low, "expected": of.expected, "high": of.high});
        let energy = total.and_then(|total| self.energy(total, workers));
        let price = total.and_then(|total| self.price(total, workers));
        record["energy_kwh"] = json!(energy.map(interval));
        record["price"] = json!(price.map(interval));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total() -> Total {
        Total {
            core_seconds: Interval {
                low: 18_000.0,
                expected: 36_000.0,
                high: 72_000.0,
            },
            mean_task: 0.0,
            longest_task: 0.0,
            share: 0.1,
        }
    }

    #[test]
    fn a_price_is_that_of_core_hours_or_with_watts_of_energy() {
        let lines = |watts, price| Prices { watts, price }.lines(&total(), 10, "95 %");
        assert_eq!(lines(None, None), [""; 0]);
        assert_eq!(
            lines(None, Some(0.04)),
            ["price       0.40, 95 %: 0.20 to 0.80, at 0.04 a core-hour"]
        );
        assert_eq!(
            lines(Some(200.0), Some(0.3)),
            [
                "energy      0.20 kWh, 95 %: 0.10 to 0.40, at 200 W",
                "price       0.060, 95 %: 0.030 to 0.12, at 0.3 a kWh",
            ]
        );
        assert!(amount("0").is_err() && amount("-1").is_err() && amount("inf").is_err());
    }
}
