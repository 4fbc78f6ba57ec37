//! What leases cost, compared with a run on the same cores that keeps a ledger too.

use super::server::NatsServer;
use crate::isolated::isolated;
use crate::program::text;

const PAIRS: usize = 9;

/// Wall seconds and CPU seconds of a shell command and all that it starts.
fn times(command: &str) -> (f64, f64) {
    let timed = format!("TIMEFORMAT='%R %U %S'; time {{ {command}; }} >/dev/null 2>&1");
    let output = isolated("bash").args(["-c", &timed]).output().unwrap();
    let said = text(&output.stderr);
    assert!(output.status.success(), "{command}: {said}");
    let last = said.lines().last().unwrap_or_default();
    let times: Vec<f64> = last.split(' ').map(|time| time.parse().unwrap()).collect();
    (times[0], times[1] + times[2])
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[test]
#[ignore = "needs an idle machine, and takes three minutes"]
fn leases_cost_less_than_two_percent_at_19_queens() {
    let Some(server) = NatsServer::start() else {
        return;
    };
    let queenfold = env!("CARGO_BIN_EXE_queenfold");
    let folder = server.folder().to_str().unwrap().to_owned();
    let url = server.url();
    let (mut wall, mut cpu) = (Vec::new(), Vec::new());
    for pair in 0..PAIRS {
        let alone = times(&format!(
            "{queenfold} run -n 19 --gpu off -q --dir {folder}/one{pair}"
        ));
        let leases = times(&format!(
            "{queenfold} serve {folder}/many{pair} -n 19 -q --nats {url} & \
             {queenfold} work -q --gpu off --nats {url} --run many{pair} --journal {folder}; wait"
        ));
        println!("alone {alone:.2?}, by leases {leases:.2?} (wall and CPU seconds)");
        wall.push(leases.0 / alone.0);
        cpu.push(leases.1 / alone.1);
    }
    let (wall, cpu) = (median(wall), median(cpu));
    println!("medians of {PAIRS} pairs: wall {wall:.3}, CPU {cpu:.3} of the run alone");
    assert!(cpu < 1.02, "{cpu}");
}
