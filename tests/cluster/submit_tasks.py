"""Runs tasks of an array with a real HyperQueue: a server and a worker of its Python package.

Arguments: the folder of the server, the script of the array, the indices (such as 0,3).
"""

import sys

from hyperqueue import Job
from hyperqueue.cluster import LocalCluster, WorkerConfig
from hyperqueue.ffi.protocol import ResourceRequest
from hyperqueue.task.program import ExternalProgram

server, script, indices = sys.argv[1:]
with LocalCluster(server) as cluster:
    cluster.start_worker(WorkerConfig(cores=2))
    client = cluster.client()
    job = Job(max_fails=None)
    for index in map(int, indices.split(",")):
        # `Job.program` numbers tasks from 0 on; an array has the numbers that it was submitted with.
        log = f"{server}/{index}"
        job._add_task(
            ExternalProgram(
                index,
                args=[script],
                stdout=f"{log}.out",
                stderr=f"{log}.err",
                resources=ResourceRequest(cpus=1),
            )
        )
    submitted = client.submit(job)
    client.wait_for_jobs([submitted], raise_on_error=False)
    print(",".join(map(str, sorted(client.get_failed_tasks(submitted)))))
