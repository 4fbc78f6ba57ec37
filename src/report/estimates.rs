//! Drawings of what was expected, beside what was true: the time left, the cost of tasks.

use std::error::Error;

use plotters::prelude::*;

use super::clock::Clock;
use super::drawing::{Drawn, EXPECTED, MEASURED, View, Views, plain, tidy, views};
use super::timeline::EtaTold;
use super::{DoneTask, RunReport};

/// The most points of a cloud.
const MOST_POINTS: usize = 1500;

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
    views(|view| draw_eta(&told, end, clock, view)).map(Some)
}

fn draw_eta(told: &[EtaTold], end: Option<f64>, clock: &Clock, view: View) -> Drawn {
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
            let uncertainty = told.uncertainty?;
            let (low, top) = (told.left - uncertainty, told.left + uncertainty);
            let ends = [low.max(0.0), top].map(|end| (end / unit.seconds).min(high));
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
        let points = told.iter().map(|told| (clock.at(told.at), left(told)));
        chart.draw_series(LineSeries::new(points, EXPECTED.stroke_width(2)))?;
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
    let (low, high) = (low * 0.8, high * 1.25);
    let mut svg = String::new();
    {
        let height = view.width().min(400);
        let area = SVGBackend::with_string(&mut svg, (view.width(), height)).into_drawing_area();
        let mut chart = ChartBuilder::on(&area)
            .margin(8)
            .x_label_area_size(44)
            .y_label_area_size(view.left())
            .build_cartesian_2d((low..high).log_scale(), (low..high).log_scale())?;
        plain(&mut chart.configure_mesh())
            .x_labels(view.labels())
            .x_desc("seconds that the plan expected of a task")
            .y_desc("seconds it took")
            .x_label_formatter(&short)
            .y_label_formatter(&short)
            .draw()?;
        let dots = points.iter();
        chart.draw_series(dots.map(|dot| Circle::new(*dot, 2, MEASURED.mix(0.5).filled())))?;
        chart.draw_series(LineSeries::new([(low, low), (high, high)], EXPECTED))?;
        area.present()?;
    }
    Ok(svg)
}

/// A number with few digits.
fn short(value: &f64) -> String {
    let digits = match *value {
        ..0.01 => return format!("{value:.0e}"),
        ..0.1 => 2,
        ..10.0 => 1,
        _ => 0,
    };
    format!("{value:.digits$}")
}
