//! What a scheduler of a cluster has granted, as it says in environment variables. Where it also confines the
//! process (by affinity or a cgroup), the smaller of the two holds.
//!
//! GPUs need nothing here: schedulers set `CUDA_VISIBLE_DEVICES`, which the driver itself obeys.

/// Cores and memory of this process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Granted {
    /// Cores, at least 1.
    pub cores: Option<usize>,
    /// Memory in bytes, at least 1.
    pub memory: Option<u64>,
}

/// For each of Grid Engine, PBS and LSF: what says that a process belongs to a job, and what says how many cores the job has
/// on this host, the best first. If it has several hosts, some count those of all: then the host's own number is
/// the smaller one.
const CORES_OF_JOBS: [(&str, &[&str]); 3] = [
    ("JOB_ID", &["NSLOTS"]),
    ("PBS_JOBID", &["NCPUS", "PBS_NUM_PPN", "PBS_NP"]),
    ("LSB_JOBID", &["LSB_DJOB_NUMPROC"]),
];

impl Granted {
    /// By the environment of this process.
    pub fn find() -> Self {
        Self::by(|name| std::env::var(name).ok())
    }

    /// By these variables. A HyperQueue task may run inside of a Slurm job, whose variables it inherits: then
    /// it has what HyperQueue says.
    fn by(variable: impl Fn(&str) -> Option<String>) -> Self {
        // HyperQueue adds in which groups it looked: `512 compact`.
        let number = |name: &str| -> Option<u64> {
            let number = variable(name)?.split_whitespace().next()?.parse().ok();
            number.filter(|number| *number > 0)
        };
        if variable("HQ_TASK_ID").is_some() {
            // The numbers of the cores, such as `0,1,5`, and the memory in MiB.
            let cores = variable("HQ_CPUS").map(|list| list.split(',').count());
            return Self {
                cores,
                memory: number("HQ_RESOURCE_REQUEST_mem").and_then(mebibytes),
            };
        }
        if variable("SLURM_JOB_ID").is_none() {
            let job = CORES_OF_JOBS
                .into_iter()
                .find(|(job, _)| variable(job).is_some());
            let cores = job.and_then(|(_, cores)| cores.iter().find_map(|name| number(name)));
            return Self {
                cores: cores.and_then(|cores| usize::try_from(cores).ok()),
                memory: None,
            };
        }
        // The first is set only if --cpus-per-task was given.
        let cores = number("SLURM_CPUS_PER_TASK").or_else(|| number("SLURM_CPUS_ON_NODE"));
        // In MiB. `--mem=0` asks for all of the node, and gives a 0 here.
        let per_core = || number("SLURM_MEM_PER_CPU")?.checked_mul(cores?);
        let memory = number("SLURM_MEM_PER_NODE").or_else(per_core);
        Self {
            cores: cores.and_then(|cores| usize::try_from(cores).ok()),
            memory: memory.and_then(mebibytes),
        }
    }
}

fn mebibytes(number: u64) -> Option<u64> {
    number.checked_mul(1 << 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by(variables: &[(&str, &str)]) -> (Option<usize>, Option<u64>) {
        let variable = |name: &str| {
            let mut all = variables.iter();
            all.find(|(known, _)| *known == name)
                .map(|(_, value)| (*value).to_owned())
        };
        let Granted { cores, memory } = Granted::by(variable);
        (cores, memory.map(|bytes| bytes >> 20))
    }

    #[test]
    fn a_slurm_job_has_what_slurm_granted() {
        let job = ("SLURM_JOB_ID", "17");
        let per_task = ("SLURM_CPUS_PER_TASK", "4");
        assert_eq!(by(&[per_task]), (None, None));
        let mem = ("SLURM_MEM_PER_NODE", "8192");
        assert_eq!(by(&[job, per_task, mem]), (Some(4), Some(8192)));
        let on_node = ("SLURM_CPUS_ON_NODE", "6");
        let per_cpu = ("SLURM_MEM_PER_CPU", "100");
        assert_eq!(by(&[job, on_node, per_cpu]), (Some(6), Some(600)));
        let (whole, strange) = (("SLURM_MEM_PER_NODE", "0"), ("SLURM_CPUS_ON_NODE", "all"));
        assert_eq!(by(&[job, whole, strange]), (None, None));
        let most = ("SLURM_MEM_PER_NODE", "18446744073709551615");
        assert_eq!(by(&[job, most]), (None, None));
    }

    #[test]
    fn jobs_of_other_schedulers_have_the_cores_that_these_granted() {
        let grid_engine = [("JOB_ID", "7"), ("NSLOTS", "3")];
        assert_eq!(by(&grid_engine), (Some(3), None));
        let pbs = [
            ("PBS_JOBID", "1.host"),
            ("PBS_NP", "16"),
            ("PBS_NUM_PPN", "8"),
        ];
        assert_eq!(by(&pbs), (Some(8), None));
        assert_eq!(by(&[&pbs[..], &[("NCPUS", "2")]].concat()), (Some(2), None));
        let lsf = [("LSB_JOBID", "5"), ("LSB_DJOB_NUMPROC", "4")];
        assert_eq!(by(&lsf), (Some(4), None));
        for stray in ["NSLOTS", "NCPUS", "PBS_NP", "LSB_DJOB_NUMPROC"] {
            assert_eq!(by(&[(stray, "1")]), (None, None), "{stray}");
        }
    }

    #[test]
    fn a_hyperqueue_task_has_its_part_of_the_job_that_the_worker_runs_in() {
        let outer = [
            ("SLURM_JOB_ID", "17"),
            ("SLURM_CPUS_ON_NODE", "64"),
            ("SLURM_MEM_PER_NODE", "8192"),
            ("HQ_TASK_ID", "3"),
        ];
        let inner = [
            ("HQ_CPUS", "4,5,9"),
            ("HQ_RESOURCE_REQUEST_mem", "512 compact"),
        ];
        assert_eq!(by(&[&outer[..], &inner].concat()), (Some(3), Some(512)));
        assert_eq!(by(&outer), (None, None));
    }
}
