//! Drawings over the time of a run: the share that is done, the speed, the time left that was told, who counted when.

use std::ops::Range;

use super::RunReport;
use super::chart::{Chart, EXPECTED, MEASURED, PAUSED, Point, STOPPED, marks};
use super::clock::{Bins, Clock};
use queenfold::actors::Eta;
use queenfold::words::speed_unit;

/// The width of a drawing, in units of which each is about a pixel.
const WIDTH: i32 = 860;

/// The height of a lane.
const ROW: i32 = 22;

/// The space at the left for the names of lanes, and how many letters it has.
const NAMES: i32 = 150;
const LETTERS: usize = 16;

/// The most lanes that are drawn.
pub const MOST_LANES: usize = 64;

/// How many tones of a lane are told apart.
const TONES: f64 = 5.0;

/// The nodes that were searched in each of the bins of time.
fn nodes(report: &RunReport, clock: &Clock) -> (Bins, Vec<f64>) {
    let bins = clock.bins();
    let mut nodes = vec![0.0; bins.0.len()];
    for task in &report.tasks {
        let all = task.nodes as f64;
        bins.spread(task, clock, |bin, part| nodes[bin] += all * part);
    }
    (bins, nodes)
}

/// The share of the work that is done, in percent, over time: it grows with the nodes.
pub fn share(report: &RunReport, clock: &Clock) -> String {
    let (bins, nodes) = nodes(report, clock);
    let all: f64 = nodes.iter().sum();
    let mut done = 0.0;
    let mut points = vec![(0.0, 0.0)];
    for ((from, to), nodes) in bins.0.into_iter().zip(nodes) {
        points.push((clock.at(from), done));
        done += 100.0 * report.status.share * nodes / all.max(f64::MIN_POSITIVE);
        points.push((clock.at(to), done));
    }
    let mut chart = over_time(clock, 220, Some("% done"), 0.0..100.0);
    area(&mut chart, &points);
    chart.finish()
}

/// Nodes per second over time.
pub fn speed(report: &RunReport, clock: &Clock) -> String {
    let (bins, nodes) = nodes(report, clock);
    let speeds = bins.0.iter().zip(nodes);
    let speeds = speeds.map(|((from, to), nodes)| nodes / (to - from));
    let speeds: Vec<f64> = speeds.collect();
    let most = speeds.iter().copied().fold(1.0, f64::max);
    let (scale, unit) = speed_unit(most);
    let mut chart = over_time(clock, 240, Some(unit), 0.0..most / scale * 1.05);
    // Bins that follow one another are one area; between others, nothing was counted.
    let bins: Vec<_> = bins.0.into_iter().zip(speeds).collect();
    for run in bins.chunk_by(|(one, _), (next, _)| next.0 <= one.1 + 1e-6) {
        let edges = run.iter().flat_map(|((from, to), speed)| {
            [from, to].map(|edge| (clock.at(*edge), speed / scale))
        });
        area(&mut chart, &edges.collect::<Vec<_>>());
    }
    chart.finish()
}

/// The times left that were told, and the true ones if the run is done; nothing where too few were told.
pub fn eta(report: &RunReport, clock: &Clock) -> String {
    let (end, unit) = (clock.end, clock.unit.seconds);
    let told = report.timeline.told.iter().copied();
    let told: Vec<(f64, Eta)> = told.filter(|(at, _)| *at <= end).collect();
    if told.len() < 5 {
        return String::new();
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
    let mut chart = over_time(clock, 260, Some(&title), 0.0..high);
    for (at, eta) in told.iter().step_by(told.len().div_ceil(240)) {
        let Some(ends) = eta.interval() else {
            continue;
        };
        let line = ends.map(|end| (clock.at(*at), (end.as_secs_f64() / unit).min(high)));
        chart.line(&line, EXPECTED, "stroke-opacity=\"0.25\"");
    }
    chart.line(&truth, MEASURED, BROAD);
    for told in told.chunk_by(|one, next| process(one) == process(next)) {
        let points: Vec<_> = told.iter().map(left).collect();
        chart.line(&points, EXPECTED, BROAD);
    }
    chart.finish()
}

/// A line that is seen first.
const BROAD: &str = "stroke-width=\"2\"";

/// Draws what was measured at these points, down to the axis.
fn area(chart: &mut Chart, points: &[Point]) {
    let ends = [points.last(), points.first()].into_iter().flatten();
    let below = ends.map(|(x, _)| (*x, 0.0));
    let around: Vec<_> = points.iter().copied().chain(below).collect();
    chart.fill(&around, MEASURED, 0.2);
    chart.line(points, MEASURED, "stroke-width=\"1.5\"");
}

/// A drawing over time with pauses and stops. Without a title its `y` axis is not drawn.
fn over_time(clock: &Clock, height: i32, title: Option<&str>, y: Range<f64>) -> Chart {
    let head = format!(
        "<svg width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" \
         xmlns=\"http://www.w3.org/2000/svg\">\n"
    );
    let left = if title.is_some() { 72 } else { NAMES + 8 };
    let plot = [left..WIDTH - 8, 8..height - 52];
    let end = clock.at(clock.end);
    let mut chart = Chart::new(&head, plot, [0.0..end, y.clone()]);
    let name = format!("{} since the beginning", clock.unit.name);
    chart.x_axis(&name, marks(end, 10.0));
    if let Some(title) = title {
        chart.y_axis(title, marks(y.end, 6.0));
    }
    let pauses = clock.paused().into_iter().map(|span| (span, PAUSED));
    let stops = clock.stopped().into_iter().map(|span| (span, STOPPED));
    for ((from, to), colour) in pauses.chain(stops) {
        let [from, to] = [from, to].map(|time| clock.at(time));
        fill(&mut chart, [from, to], [y.start, y.end], (colour, 0.35));
    }
    chart
}

/// Fills a rectangle.
fn fill(chart: &mut Chart, [left, right]: [f64; 2], [low, high]: [f64; 2], look: (&str, f64)) {
    let corners = [(left, low), (right, low), (right, high), (left, high)];
    chart.fill(&corners, look.0, look.1);
}

/// Who counted when: a row for each worker and device; and whether any is drawn weaker where it counted part of the time.
pub fn lanes(report: &RunReport, clock: &Clock) -> (String, bool) {
    let bins = clock.bins();
    let shown = report.lanes.len().min(MOST_LANES);
    let mut busy = vec![vec![0.0; bins.0.len()]; shown];
    for task in report.tasks.iter().filter(|task| task.lane < shown) {
        bins.spread(task, clock, |bin, part| {
            busy[task.lane][bin] += task.seconds * part;
        });
    }
    let height = 60 + ROW * shown as i32;
    let mut chart = over_time(clock, height, None, shown as f64..0.0);
    let mut is_weaker = false;
    for (lane, busy) in busy.iter().enumerate() {
        let top = lane as f64;
        for (from, to, tone) in tones(&bins.0, busy) {
            is_weaker |= tone < TONES;
            let times = [from, to].map(|time| clock.at(time));
            let look = (MEASURED, tone / TONES);
            fill(&mut chart, times, [top + 0.12, top + 0.88], look);
        }
        let (_, y) = chart.at((0.0, top + 0.5));
        chart.text((NAMES, y + 4), "end", "", &lane_name(report, lane));
    }
    (chart.finish(), is_weaker)
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
    match report.lanes.iter().any(|other| other.host != lane.host) {
        true => format!("{} {worker}", beginning(&lane.host, LETTERS, &worker)),
        false => worker,
    }
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
