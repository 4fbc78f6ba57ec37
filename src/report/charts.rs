//! The drawings of a report, as SVG. Colours are names of what is drawn: the page gives them the tones for
//! light and dark screens and for paper.

use std::error::Error;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::drawing::{Drawn, label, plain};
use super::{DoneTask, RunReport};
use crate::telemetry::printable;

const WIDTH: u32 = 860;

/// What is measured.
const MEASURED: RGBColor = RGBColor(0x1f, 0x77, 0xb4);
/// What was expected.
const EXPECTED: RGBColor = RGBColor(0xd6, 0x27, 0x28);
/// Pauses.
const PAUSED: RGBColor = RGBColor(0xff, 0xbb, 0x33);
/// Times without a process.
const STOPPED: RGBColor = RGBColor(0xbb, 0xbb, 0xbb);

/// The most parts into which time is divided.
const MOST_PARTS: usize = 240;

/// The shortest part, in seconds: tasks are recorded to the second.
const SHORTEST_PART: f64 = 2.0;

/// The most lanes that are drawn.
pub const MOST_LANES: usize = 64;

/// The most points of a cloud.
const MOST_POINTS: usize = 1500;

/// The unit in which times are shown.
struct Unit {
    seconds: f64,
    name: &'static str,
}

impl Unit {
    fn of(seconds: f64) -> Self {
        let (seconds, name) = match seconds {
            ..300.0 => (1.0, "seconds"),
            ..18_000.0 => (60.0, "minutes"),
            ..432_000.0 => (3600.0, "hours"),
            _ => (86_400.0, "days"),
        };
        Self { seconds, name }
    }
}

/// Time on the axis: in units, since the run began.
struct Clock {
    start: f64,
    length: f64,
    /// The number of parts.
    parts: usize,
    unit: Unit,
}

impl Clock {
    fn new(report: &RunReport) -> Self {
        let (start, end) = report.span();
        // Times of records are rounded down to a second: the last one ended within the second after.
        let length = (end - start) as f64 + 1.0;
        Self {
            start: start as f64,
            length,
            parts: ((length / SHORTEST_PART) as usize).clamp(1, MOST_PARTS),
            unit: Unit::of(length),
        }
    }

    fn at(&self, time: f64) -> f64 {
        ((time - self.start) / self.unit.seconds).clamp(0.0, self.end())
    }

    fn end(&self) -> f64 {
        self.length / self.unit.seconds
    }

    fn title(&self) -> String {
        format!("{} since the beginning", self.unit.name)
    }

    /// The part in which a time lies.
    fn part(&self, time: f64) -> usize {
        let part = (time - self.start) / self.part_seconds();
        (part.max(0.0) as usize).min(self.parts - 1)
    }

    fn part_seconds(&self) -> f64 {
        self.length / self.parts as f64
    }

    /// Where a part begins on the axis.
    fn begin(&self, part: usize) -> f64 {
        part as f64 / self.parts as f64 * self.end()
    }
}

/// Calls `each` with every part of time in which a task was counted, and the seconds of it in this part.
fn spread(task: &DoneTask, clock: &Clock, mut each: impl FnMut(usize, f64)) {
    // Seconds are rounded down.
    let end = task.end as f64 + 0.5;
    let start = (end - task.seconds).max(clock.start);
    let (first, last) = (clock.part(start), clock.part(end));
    let wide = clock.part_seconds();
    for part in first..=last {
        let from = clock.start + part as f64 * wide;
        let inside = end.min(from + wide) - start.max(from);
        // A task that is shorter than the clock is exact lies in one part.
        each(
            part,
            if first == last {
                task.seconds.min(wide)
            } else {
                inside.max(0.0)
            },
        );
    }
}

fn finish(svg: String) -> String {
    // Fonts are those of the page.
    svg.replace("font-family=\"sans-serif\" ", "")
}

/// Nodes per second over time, with pauses and stops.
pub fn speed(report: &RunReport) -> Drawn {
    let clock = Clock::new(report);
    let mut nodes = vec![0.0; clock.parts];
    for task in &report.tasks {
        let all = task.seconds.max(1e-9);
        spread(task, &clock, |part, inside| {
            nodes[part] += task.nodes as f64 * (inside / all).min(1.0);
        });
    }
    let wide = clock.part_seconds();
    let speeds: Vec<f64> = nodes.iter().map(|nodes| nodes / wide).collect();
    let most = speeds.iter().copied().fold(1.0, f64::max);
    let (scale, prefix) = [(1e9, "G"), (1e6, "M"), (1e3, "k")]
        .into_iter()
        .find(|(scale, _)| most >= *scale)
        .unwrap_or((1.0, ""));
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (WIDTH, 260)).into_drawing_area();
        let mut chart = ChartBuilder::on(&area)
            .margin(8)
            .x_label_area_size(44)
            .y_label_area_size(64)
            .build_cartesian_2d(0.0..clock.end(), 0.0..most / scale * 1.05)?;
        plain(&mut chart.configure_mesh())
            .x_desc(clock.title())
            .x_label_formatter(&tidy)
            .y_desc(format!("{prefix}node/s"))
            .y_label_formatter(&tidy)
            .draw()?;
        chart.draw_series(interruptions(report, &clock, most / scale * 1.05))?;
        let line = speeds.iter().enumerate().flat_map(|(part, speed)| {
            [part, part + 1].map(|edge| (clock.begin(edge), speed / scale))
        });
        chart.draw_series(AreaSeries::new(line, 0.0, MEASURED.mix(0.25)).border_style(MEASURED))?;
        area.present()?;
    }
    Ok(finish(svg))
}

/// Pauses, and the time between processes, from 0 to `height`.
fn interruptions(
    report: &RunReport,
    clock: &Clock,
    height: f64,
) -> impl Iterator<Item = Rectangle<(f64, f64)>> {
    let pauses = report.timeline.pauses.iter();
    let mut found: Vec<_> = pauses.map(|(from, to, _)| (*from, *to, PAUSED)).collect();
    let mut sessions: Vec<_> = report
        .sessions
        .iter()
        .map(|session| {
            let start = session.facts.started as f64;
            (start, start + session.elapsed.as_secs_f64())
        })
        .collect();
    sessions.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut until = clock.start;
    for (start, end) in sessions {
        // The clock of a machine is exact to a second.
        if start > until + 2.0 {
            found.push((until, start, STOPPED));
        }
        until = until.max(end);
    }
    found.into_iter().map(move |(from, to, colour)| {
        let corners = [(clock.at(from), 0.0), (clock.at(to), height)];
        Rectangle::new(corners, colour.mix(0.35).filled())
    })
}

/// Who counted when: a row for each worker and device.
pub fn lanes(report: &RunReport) -> Drawn {
    let clock = Clock::new(report);
    let shown = report.lanes.len().min(MOST_LANES);
    let mut busy = vec![vec![0.0; clock.parts]; shown];
    for task in report.tasks.iter().filter(|task| task.lane < shown) {
        spread(task, &clock, |part, inside| busy[task.lane][part] += inside);
    }
    let several_hosts = report
        .lanes
        .iter()
        .any(|lane| lane.host != report.lanes[0].host);
    let name = |lane: usize| {
        let lane = &report.lanes[lane];
        let name = match several_hosts {
            true => format!("{} {}", lane.host, lane.worker),
            false => lane.worker.to_string(),
        };
        let long = name.chars().count().saturating_sub(16);
        printable(&name.chars().skip(long).collect::<String>())
    };
    let row = 22;
    let height = 60 + row * shown as u32;
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
        let mut chart = ChartBuilder::on(&area)
            .margin(8)
            .x_label_area_size(44)
            .y_label_area_size(130)
            .build_cartesian_2d(0.0..clock.end(), (shown as f64)..0.0)?;
        plain(&mut chart.configure_mesh())
            .disable_y_mesh()
            .disable_y_axis()
            .x_desc(clock.title())
            .x_label_formatter(&tidy)
            .draw()?;
        for (lane, busy) in busy.iter().enumerate() {
            let y = lane as f64;
            for (part, seconds) in busy.iter().enumerate() {
                let share = (seconds / clock.part_seconds()).min(1.0);
                if share <= 0.005 {
                    continue;
                }
                chart.draw_series([Rectangle::new(
                    [
                        (clock.begin(part), y + 0.12),
                        (clock.begin(part + 1), y + 0.88),
                    ],
                    MEASURED.mix(0.15 + 0.85 * share).filled(),
                )])?;
            }
        }
        chart.draw_series(interruptions(report, &clock, shown as f64))?;
        let right = label().pos(Pos::new(HPos::Right, VPos::Center));
        for lane in 0..shown {
            let y = 8 + (row as f64 * (lane as f64 + 0.5)) as i32;
            area.draw(&Text::new(name(lane), (130, y), right.clone()))?;
        }
        area.present()?;
    }
    Ok(finish(svg))
}

/// The time of tasks against what their plan expected; `None` if the plan was not asked.
pub fn costs(report: &RunReport) -> Result<Option<String>, Box<dyn Error>> {
    let tasks: Vec<_> = report
        .tasks
        .iter()
        .zip(&report.costs)
        .filter(|(task, cost)| task.engine.counts_all() && task.seconds > 0.0 && **cost > 0.0)
        .collect();
    if tasks.len() < 2 {
        return Ok(None);
    }
    let seconds: f64 = tasks.iter().map(|(task, _)| task.seconds).sum();
    let cost: f64 = tasks.iter().map(|(_, cost)| **cost).sum();
    let each = tasks.len().div_ceil(MOST_POINTS);
    let points: Vec<_> = tasks
        .iter()
        .step_by(each)
        .map(|(task, expected)| (**expected * seconds / cost, task.seconds))
        .collect();
    let both = points.iter().flat_map(|(x, y)| [*x, *y]);
    let (low, high) = both.fold((f64::MAX, 0.0), |(low, high): (f64, f64), value| {
        (low.min(value), high.max(value))
    });
    let (low, high) = (low * 0.8, high * 1.25);
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (WIDTH, 420)).into_drawing_area();
        let mut chart = ChartBuilder::on(&area)
            .margin(8)
            .x_label_area_size(44)
            .y_label_area_size(64)
            .build_cartesian_2d((low..high).log_scale(), (low..high).log_scale())?;
        plain(&mut chart.configure_mesh())
            .x_desc("expected seconds of a task, by its cost")
            .y_desc("seconds")
            .x_label_formatter(&short)
            .y_label_formatter(&short)
            .draw()?;
        chart.draw_series(LineSeries::new([(low, low), (high, high)], EXPECTED))?;
        chart.draw_series(
            points
                .iter()
                .map(|point| Circle::new(*point, 2, MEASURED.mix(0.5).filled())),
        )?;
        area.present()?;
    }
    Ok(Some(finish(svg)))
}

/// A number of an axis: whole, or with one digit.
fn tidy(value: &f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
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

/// The times left that were told, against those that were true; `None` without any.
pub fn eta(report: &RunReport) -> Result<Option<String>, Box<dyn Error>> {
    let told = &report.timeline.told;
    if told.len() < 2 {
        return Ok(None);
    }
    let clock = Clock::new(report);
    let unit = clock.unit.seconds;
    let end = report.outcome.is_ok().then_some(report.span().1 as f64);
    let most = told
        .iter()
        .map(|told| told.left)
        .fold(clock.length, f64::max)
        / unit;
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (WIDTH, 300)).into_drawing_area();
        let mut chart = ChartBuilder::on(&area)
            .margin(8)
            .x_label_area_size(44)
            .y_label_area_size(64)
            .build_cartesian_2d(0.0..clock.end(), 0.0..most * 1.05)?;
        plain(&mut chart.configure_mesh())
            .x_desc(clock.title())
            .x_label_formatter(&tidy)
            .y_desc(format!("{} left", clock.unit.name))
            .y_label_formatter(&tidy)
            .draw()?;
        chart.draw_series(told.iter().map(|told| {
            let (low, high) = (told.left - told.uncertainty, told.left + told.uncertainty);
            PathElement::new(
                [
                    (clock.at(told.at), low.max(0.0) / unit),
                    (clock.at(told.at), (high / unit).min(most * 1.05)),
                ],
                EXPECTED.mix(0.25),
            )
        }))?;
        let points = told
            .iter()
            .map(|told| (clock.at(told.at), told.left / unit));
        chart.draw_series(LineSeries::new(points, EXPECTED.stroke_width(2)))?;
        if let Some(end) = end {
            let truth = told
                .iter()
                .map(|told| (clock.at(told.at), (end - told.at).max(0.0) / unit));
            chart.draw_series(LineSeries::new(truth, MEASURED.stroke_width(2)))?;
        }
        area.present()?;
    }
    Ok(Some(finish(svg)))
}
