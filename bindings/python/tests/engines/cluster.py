"""A standalone cluster of Spark on this machine: a master and two workers of one core each."""

import contextlib
import os
import pathlib
import socket
import subprocess
import sys
import time

import pyspark

import fpstore as fp


def _free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@contextlib.contextmanager
def cluster(folder, paths=(), memory="1g"):
    """Starts a cluster, and ends it; its address. Executors find modules in ``paths``; a worker has ``memory`` for
    them."""
    home = pathlib.Path(pyspark.__file__).parent
    # Workers start Python without the paths of this process.
    paths = [str(pathlib.Path(fp.__file__).parents[1]), *map(str, paths)]
    environment = os.environ | {
        "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join(paths), "SPARK_WORKER_DIR": str(folder / "work"),
    }
    os.environ.update({name: environment[name] for name in ("SPARK_LOCAL_IP", "PYSPARK_PYTHON", "PYTHONPATH")})
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    port = _free_port()
    address = f"spark://127.0.0.1:{port}"
    deploy = "org.apache.spark.deploy"
    worker = [f"{deploy}.worker.Worker", "--host", "127.0.0.1", "--cores", "1", "--memory", memory,
              "--webui-port", "0", address]
    master = [f"{deploy}.master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"]
    running = []
    with open(folder / "log", "wb") as log:
        try:
            for command in (master, worker, worker):
                spark_class = [str(home / "bin" / "spark-class"), *command]
                running.append(subprocess.Popen(spark_class, env=environment, stdout=log, stderr=log))
            deadline = time.monotonic() + 90
            while (folder / "log").read_text("utf-8", "replace").count("Successfully registered with master") < 2:
                assert time.monotonic() < deadline, (folder / "log").read_text("utf-8", "replace")
                time.sleep(0.3)
            yield address
        finally:
            for process in running:
                process.terminate()
            for process in running:
                process.wait(30)
