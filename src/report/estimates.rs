//! Drawings of what was expected, beside what was true: the time left, the cost of tasks.

use std::error::Error;

use plotters::prelude::*;

use super::clock::Clock;
use super::drawing::{Drawn, EXPECTED, MEASURED, View, Views, plain, tidy, views};
use super::timeline::EtaTold;
use super::{DoneTask, RunReport};

/// The most points of a cloud.
const MOST_POINTS: usize = 500;

/// Expected costs that differ less than by this factor explain nothing.
const SPREAD: f64 = 1.5;

/// The times left that were told, and the true ones if the run is done; `None` without any.
///
/// # Errors
/// Something could not be drawn.
pub fn eta(report: &RunReport, clock: &Clock) -> Result<Option<Views>, Box<dyn Error>> {
    let told = report.timeline.told.iter();
    let told: Vec<EtaTold> = told
        .filter(|told| told.at <= clock.end())
        .copied()
        .collect();
    if told.len() < 3 {
        return Ok(None);
    }
    let is_done = report.status.shard_tasks.0 == report.status.shard_tasks.1;
    let end = is_done.then_some(clock.end());
    // Nothing was told between two processes.
    let process = |told: &EtaTold| report.timeline.began.partition_point(|at| *at <= told.at);
    let told: Vec<_> = told
        .chunk_by(|one, next| process(one) == process(next))
        .collect();
    views(|view| draw_eta(&told, end, clock, view)).map(Some)
}

/// `processes`: what each of them told.
fn draw_eta(processes: &[&[EtaTold]], end: Option<f64>, clock: &Clock, view: View) -> Drawn {
    let told = processes.concat();
    let unit = clock.unit();
    let left = |told: &EtaTold| told.left / unit.seconds;
    let most = told.iter().map(left).fold(0.0, f64::max);
    let true_left = |at: f64, end: f64| (end - at).max(0.0) / unit.seconds;
    let most_true = end.map_or(0.0, |end| true_left(told[0].at, end));
    let high = 1.05 * most.max(most_true).max(1e-3);
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (view.width(), 260)).into_drawing_area();
        let mut chart = ChartBuilder::on(&area)
            .margin(8)
            .margin_right(20)
            .x_label_area_size(44)
            .y_label_area_size(view.left())
            .build_cartesian_2d(0.0..clock.length(), 0.0..high)?;
        plain(&mut chart.configure_mesh())
            .x_labels(view.labels())
            .x_desc(clock.title())
            .x_label_formatter(&tidy)
            .y_labels(6)
            .y_desc(format!("{} left", unit.name))
            .y_label_formatter(&tidy)
            .draw()?;
        let intervals = told.iter().step_by(told.len().div_ceil(view.part(240)));
        chart.draw_series(intervals.filter_map(|told| {
            let ends = told.interval?.map(|end| (end / unit.seconds).min(high));
            let at = clock.at(told.at);
            let line = ends.map(|end| (at, end));
            Some(PathElement::new(line, EXPECTED.mix(0.25)))
        }))?;
        if let Some(end) = end {
            let truth = told
                .iter()
                .map(|told| (clock.at(told.at), true_left(told.at, end)));
            chart.draw_series(LineSeries::new(truth, MEASURED.stroke_width(2)))?;
        }
        for told in processes {
            let points = told.iter().map(|told| (clock.at(told.at), left(told)));
            chart.draw_series(LineSeries::new(points, EXPECTED.stroke_width(2)))?;
        }
        area.present()?;
    }
    Ok(svg)
}

/// The time of tasks against what their plan expected; `None` if the plan was not asked, or expects the same of all.
///
/// # Errors
/// Something could not be drawn.
pub fn costs(report: &RunReport) -> Result<Option<Views>, Box<dyn Error>> {
    let tasks: Vec<_> = report
        .tasks
        .iter()
        .zip(&report.costs)
        .filter(|(task, cost)| task.engine.counts_all() && task.seconds > 0.0 && **cost > 0.0)
        .collect();
    let (least, most) = tasks
        .iter()
        .fold((f64::MAX, 0.0_f64), |(least, most), (_, cost)| {
            (least.min(**cost), most.max(**cost))
        });
    if tasks.len() < 2 || most < SPREAD * least {
        return Ok(None);
    }
    let seconds: f64 = tasks.iter().map(|(task, _)| task.seconds).sum();
    let cost: f64 = tasks.iter().map(|(_, cost)| **cost).sum();
    let point = |(task, expected): &(&DoneTask, &f64)| (**expected * seconds / cost, task.seconds);
    let points: Vec<_> = tasks.iter().map(point).collect();
    views(|view| draw_costs(&points, view)).map(Some)
}

fn draw_costs(points: &[(f64, f64)], view: View) -> Drawn {
    let points: Vec<_> = points
        .iter()
        .step_by(points.len().div_ceil(view.part(MOST_POINTS)))
        .copied()
        .collect();
    let both = points.iter().flat_map(|(x, y)| [*x, *y]);
    let (low, high) = both.fold((f64::MAX, 0.0), |(low, high): (f64, f64), value| {
        (low.min(value), high.max(value))
    });
    // Few tasks take longer than seconds.
    let (scale, unit) = if high < 1.0 {
        (1e3, "milliseconds")
    } else {
        (1.0, "seconds")
    };
    let (low, high) = (low * scale * 0.8, high * scale * 1.25);
    let mut svg = String::new();
    {
        let height = view.width().min(400);
        let area = SVGBackend::with_string(&mut svg, (view.width(), height)).into_drawing_area();
        let mut chart = ChartBuilder::on(&area)
            .margin(8)
            .margin_right(20)
            .x_label_area_size(44)
            .y_label_area_size(view.left())
            .build_cartesian_2d((low..high).log_scale(), (low..high).log_scale())?;
        plain(&mut chart.configure_mesh())
            .x_labels(view.labels())
            .y_labels(view.labels())
            .x_desc(format!("{unit} that the plan expected of a task"))
            .y_desc(format!("{unit} that it took"))
            .x_label_formatter(&one_two_five)
            .y_label_formatter(&one_two_five)
            .draw()?;
        let dots = points.iter();
        chart.draw_series(dots.map(|dot| {
            Circle::new(
                (dot.0 * scale, dot.1 * scale),
                2,
                MEASURED.mix(0.5).filled(),
            )
        }))?;
        chart.draw_series(LineSeries::new([(low, low), (high, high)], EXPECTED))?;
        area.present()?;
    }
    Ok(svg)
}

/// A number of a logarithmic axis: only those that begin with 1, 2 or 5, for the others lie too close together.
fn one_two_five(value: &f64) -> String {
    let text = format!("{value:.0e}");
    let Some((digit, power)) = text.split_once('e') else {
        return text;
    };
    match (digit, power.parse::<i32>()) {
        ("1" | "2" | "5", Ok(-3..=4)) => format!("{digit}e{power}")
            .parse::<f64>()
            .map_or(text, |number| number.to_string()),
        ("1" | "2" | "5", _) => text,
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::one_two_five;

    #[test]
    fn a_logarithmic_axis_has_few_labels() {
        let labels =
            [0.01, 0.02, 0.03, 5.0, 9.0, 200.0, 1e6, 2e-5].map(|value| one_two_five(&value));
        assert_eq!(labels, ["0.01", "0.02", "", "5", "", "200", "1e6", "2e-5"]);
    }
}
