//! Drawings over the time of a run: the share that is done, the speed, the time left that was told, who counted when.

use std::error::Error;
use std::ops::Range;

use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::RunReport;
use super::clock::Clock;
use super::drawing::{Drawn, EXPECTED, MEASURED, PAUSED, STOPPED, label, plain, tidy};
use crate::telemetry::printable;
use queenfold::actors::Eta;
use queenfold::words::speed_unit;

/// The width of a drawing, in units of which each is about a pixel.
const WIDTH: u32 = 860;

/// The height of a lane.
const ROW: u32 = 22;

/// The space at the left for the names of lanes, and how many letters it has.
const NAMES: u32 = 130;
const LETTERS: usize = 16;

/// The most lanes that are drawn.
pub const MOST_LANES: usize = 64;

/// How many tones of a lane are told apart.
const TONES: f64 = 5.0;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// The share of the work that is done, in percent, over time.
pub fn share(report: &RunReport, clock: &Clock) -> Drawn {
    let bins = clock.bins();
    let weighs_by_cost = report.costs.len() == report.tasks.len();
    let mut added = vec![0.0; bins.0.len()];
    for (at, task) in report.tasks.iter().enumerate() {
        let weight = if weighs_by_cost {
            report.costs[at]
        } else {
            1.0
        };
        bins.spread(task, clock, |bin, part| added[bin] += weight * part);
    }
    let all: f64 = added.iter().sum();
    let mut done = 0.0;
    let mut points = vec![(0.0, 0.0)];
    for (&(from, to), added) in bins.0.iter().zip(added) {
        points.push((clock.at(from), done));
        done += 100.0 * report.status.share * added / all.max(f64::MIN_POSITIVE);
        points.push((clock.at(to), done));
    }
    over_time(clock, 220, Some("% done"), 0.0..100.0, |_, chart| {
        chart.draw_series(
            AreaSeries::new(points.clone(), 0.0, MEASURED.mix(0.2))
                .border_style(MEASURED.stroke_width(2)),
        )?;
        Ok(())
    })
}

/// Nodes per second over time.
pub fn speed(report: &RunReport, clock: &Clock) -> Drawn {
    let bins = clock.bins();
    let mut nodes = vec![0.0; bins.0.len()];
    for task in &report.tasks {
        bins.spread(task, clock, |bin, part| {
            nodes[bin] += task.nodes as f64 * part
        });
    }
    let speeds: Vec<f64> = bins
        .0
        .iter()
        .zip(nodes)
        .map(|((from, to), nodes)| nodes / (to - from))
        .collect();
    let most = speeds.iter().copied().fold(1.0, f64::max);
    let (scale, unit) = speed_unit(most);
    over_time(
        clock,
        240,
        Some(unit),
        0.0..most / scale * 1.05,
        |_, chart| {
            // Bins that follow one another are one area; between others, nothing was counted.
            let mut runs: Vec<Vec<(f64, f64)>> = Vec::new();
            let mut until = f64::NEG_INFINITY;
            for (&(from, to), speed) in bins.0.iter().zip(&speeds) {
                if from > until + 1e-6 {
                    runs.push(Vec::new());
                }
                until = to;
                if let Some(run) = runs.last_mut() {
                    run.extend([from, to].map(|edge| (clock.at(edge), speed / scale)));
                }
            }
            for run in runs {
                let area = AreaSeries::new(run, 0.0, MEASURED.mix(0.25));
                chart.draw_series(area.border_style(MEASURED))?;
            }
            Ok(())
        },
    )
}

/// The times left that were told, and the true ones if the run is done; nothing where too few were told.
pub fn eta(report: &RunReport, clock: &Clock) -> Drawn {
    let (end, unit) = (clock.end, clock.unit.seconds);
    let told = report.timeline.told.iter().copied();
    let told: Vec<(f64, Eta)> = told.filter(|(at, _)| *at <= end).collect();
    if told.len() < 3 {
        return Ok(String::new());
    }
    let left = |(at, eta): &(f64, Eta)| (clock.at(*at), eta.left.as_secs_f64() / unit);
    let true_left = |(at, _): &(f64, Eta)| (clock.at(*at), (end - at) / unit);
    let is_done = report.status.is_done();
    let truth: Vec<_> = told.iter().filter(|_| is_done).map(true_left).collect();
    let most = told.iter().map(left).chain(truth.iter().copied());
    let high = 1.05 * most.fold(1e-3, |most: f64, (_, left)| most.max(left));
    // Nothing was told between two processes.
    let process = |told: &(f64, Eta)| report.timeline.began.partition_point(|at| *at <= told.0);
    let title = format!("{} left", clock.unit.name);
    over_time(clock, 260, Some(&title), 0.0..high, |_, chart| {
        let intervals = told.iter().step_by(told.len().div_ceil(240));
        chart.draw_series(intervals.filter_map(|(at, eta)| {
            let ends = eta.interval()?;
            let line = ends.map(|end| (clock.at(*at), (end.as_secs_f64() / unit).min(high)));
            Some(PathElement::new(line, EXPECTED.mix(0.25)))
        }))?;
        if is_done {
            chart.draw_series(LineSeries::new(truth, MEASURED.stroke_width(2)))?;
        }
        for told in told.chunk_by(|one, next| process(one) == process(next)) {
            let points = told.iter().map(left);
            chart.draw_series(LineSeries::new(points, EXPECTED.stroke_width(2)))?;
        }
        Ok(())
    })
}

/// A drawing over time with pauses and stops behind what `draw` adds. Without a title its `y` axis is not drawn.
fn over_time(
    clock: &Clock,
    height: u32,
    title: Option<&str>,
    y: Range<f64>,
    draw: impl FnOnce(&Area<'_>, &mut Chart<'_, '_>) -> Result<(), Box<dyn Error>>,
) -> Drawn {
    let high = y.start.max(y.end);
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
        let mut chart = ChartBuilder::on(&area)
            .margin(8)
            .x_label_area_size(44)
            .y_label_area_size(if title.is_some() { 64 } else { NAMES })
            .build_cartesian_2d(0.0..clock.at(clock.end), y)?;
        let mut mesh = chart.configure_mesh();
        plain(&mut mesh)
            .x_labels(10)
            .x_desc(format!("{} since the beginning", clock.unit.name))
            .x_label_formatter(&tidy);
        match title {
            Some(title) => mesh.y_labels(6).y_desc(title).y_label_formatter(&tidy),
            None => mesh.disable_y_mesh().disable_y_axis(),
        }
        .draw()?;
        chart.draw_series(interruptions(clock, high))?;
        draw(&area, &mut chart)?;
        area.present()?;
    }
    // Fonts are those of the page.
    Ok(svg.replace("font-family=\"sans-serif\" ", ""))
}

/// Pauses, and the time between processes, from 0 to `height`.
fn interruptions(clock: &Clock, height: f64) -> impl Iterator<Item = Rectangle<(f64, f64)>> {
    let pauses = clock.paused().into_iter().map(|span| (span, PAUSED));
    let stops = clock.stopped().into_iter().map(|span| (span, STOPPED));
    pauses.chain(stops).map(move |((from, to), colour)| {
        let corners = [(clock.at(from), 0.0), (clock.at(to), height)];
        Rectangle::new(corners, colour.mix(0.35).filled())
    })
}

/// Who counted when: a row for each worker and device.
pub fn lanes(report: &RunReport, clock: &Clock) -> Drawn {
    let bins = clock.bins();
    let shown = report.lanes.len().min(MOST_LANES);
    let mut busy = vec![vec![0.0; bins.0.len()]; shown];
    for task in report.tasks.iter().filter(|task| task.lane < shown) {
        bins.spread(task, clock, |bin, part| {
            busy[task.lane][bin] += task.seconds * part;
        });
    }
    let height = 60 + ROW * shown as u32;
    over_time(clock, height, None, shown as f64..0.0, |area, chart| {
        for (lane, busy) in busy.iter().enumerate() {
            let top = lane as f64;
            for (from, to, tone) in tones(&bins.0, busy) {
                let corners = [(clock.at(from), top + 0.12), (clock.at(to), top + 0.88)];
                let colour = MEASURED.mix(tone / TONES).filled();
                chart.draw_series([Rectangle::new(corners, colour)])?;
            }
        }
        let right = label().pos(Pos::new(HPos::Right, VPos::Center));
        for lane in 0..shown {
            let y = 8 + (f64::from(ROW) * (lane as f64 + 0.5)) as i32;
            let name = lane_name(report, lane);
            area.draw(&Text::new(name, (NAMES as i32, y), right.clone()))?;
        }
        Ok(())
    })
}

/// How strong the colour of a lane is, from when to when: bins of the same tone that follow one another are one.
fn tones(bins: &[(f64, f64)], busy: &[f64]) -> Vec<(f64, f64, f64)> {
    let mut found: Vec<(f64, f64, f64)> = Vec::new();
    for (&(from, to), busy) in bins.iter().zip(busy) {
        let tone = (TONES * (busy / (to - from)).min(1.0)).ceil();
        match found.last_mut() {
            Some((_, until, same)) if *same == tone && from <= *until + 1e-6 => *until = to,
            _ if *busy > 0.005 * (to - from) => found.push((from, to, tone)),
            _ => {}
        }
    }
    found
}

/// The name of a worker, with its machine if there are several.
fn lane_name(report: &RunReport, lane: usize) -> String {
    let lane = &report.lanes[lane];
    let worker = lane.worker.to_string();
    let name = match report.lanes.iter().any(|other| other.host != lane.host) {
        true => format!("{} {worker}", beginning(&lane.host, LETTERS, &worker)),
        false => worker,
    };
    printable(&name)
}

/// The first letters of the name of a machine, as many as `worker` leaves of so many: hosts of a cluster often end alike.
fn beginning(host: &str, letters: usize, worker: &str) -> String {
    let room = letters.saturating_sub(worker.len() + 1).max(1);
    match host.chars().count() <= room {
        true => host.to_owned(),
        false if room < 4 => host.chars().take(room).collect(),
        false => host.chars().take(room - 1).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::{beginning, tones};

    #[test]
    fn hosts_that_end_alike_are_told_apart() {
        let [one, other] =
            ["node7.example.org", "node8.example.org"].map(|host| beginning(host, 16, "worker-0"));
        assert_eq!((&*one, &*other), ("node7.…", "node8.…"));
        assert_eq!(beginning("node7", 16, "worker-0"), "node7");
        assert_eq!(beginning("node7", 10, "worker-0"), "n");
        assert_eq!(beginning("node7", 3, "worker-0"), "n");
    }

    #[test]
    fn neighbours_of_one_tone_are_drawn_as_one() {
        let bins = [
            (0.0, 2.0),
            (2.0, 4.0),
            (4.0, 6.0),
            (9.0, 11.0),
            (11.0, 13.0),
        ];
        let busy = [2.0, 1.9, 0.1, 0.1, 0.0];
        assert_eq!(
            tones(&bins, &busy),
            [(0.0, 4.0, 5.0), (4.0, 6.0, 1.0), (9.0, 11.0, 1.0)]
        );
    }
}
