"""Questions as people ask them, with the seeds that answer each; written without a look at what the seeds say."""

from collections.abc import Sequence

QUESTIONS: Sequence[tuple[str, Sequence[str]]] = (
    ("the gpu disappeared from the pci bus", ("xid-79",)),
    ("out of memory on the graphics card", ("cuda-oom",)),
    (
        "the kernel killed my process because the container used too much ram",
        ("cgroup-oom", "host-oom", "k8s-oomkilled"),
    ),
    ("disk ran full while the checkpoint was written", ("disk-full", "checkpoint-write-failed", "disk-quota")),
    ("slurm killed us because walltime ran out", ("slurm-time-limit",)),
    ("somebody scancelled the job", ("slurm-cancelled",)),
    ("training hangs in allreduce until the watchdog aborts", ("nccl-watchdog-timeout",)),
    ("loss became nan", ("nan-local", "loss-scale-minimum")),
    ("a python package is missing after we updated the environment", ("module-missing", "import-name")),
    ("cannot resolve the hostname of the master node", ("master-unresolvable", "name-resolution")),
    ("port is already taken when torchrun starts", ("port-in-use",)),
    ("infiniband port went down", ("nccl-ib-port-error", "nic-link-down")),
    ("infiniband retry count exceeded", ("nccl-ib-retry-exceeded",)),
    ("data loader dies, shared memory too small", ("dataloader-shm", "dataloader-worker-killed")),
    ("spot instance was taken away", ("preempted",)),
    ("processes run out of file handles", ("too-many-files",)),
    ("s3 tells us to slow down", ("object-store-throttled",)),
    ("we may not read from the bucket", ("object-store-denied",)),
    ("state dict has missing and unexpected keys", ("checkpoint-keys",)),
    ("checkpoint file is cut off and cannot be opened", ("checkpoint-corrupt-zip", "checkpoint-safetensors")),
    ("driver on the nodes is older than our cuda", ("cuda-driver-too-old",)),
    ("gpu throttles because it is too hot", ("gpu-slowdown",)),
    (
        "uncorrectable memory errors on a gpu",
        ("gpu-ecc-uncorrectable", "xid-48", "xid-94", "xid-95", "xid-64", "xid-140"),
    ),
    ("nodes never find each other at start", ("rendezvous-timeout", "store-clients-missing", "master-unreachable")),
    ("a rank segfaulted", ("rank-sigsegv",)),
    ("hugging face throttles our downloads", ("hub-rate-limited",)),
    ("pod stays pending forever", ("k8s-unschedulable",)),
    ("the nfs mount hangs", ("nfs-not-responding",)),
    ("wrong command line option", ("bad-argument",)),
    ("we are not allowed to write the output folder", ("permission-denied",)),
    ("two ranks ended up on the same gpu", ("nccl-duplicate-gpu",)),
    ("nvlink errors", ("gpu-nvlink-uncorrectable", "xid-74")),
    ("file system suddenly cannot be written any more", ("read-only-fs",)),
    ("ascend card ran out of memory", ("npu-oom",)),
    ("one rank called another collective than the rest", ("collective-mismatch",)),
    ("the c library of the image is too old", ("glibc-too-old",)),
)
# what no seed answers
STRANGE: Sequence[str] = (
    "who is on call tonight",
    "how do I make coffee",
    "which learning rate is best for llama",
    "when is the next maintenance window",
    "book a meeting room for friday",
    "the dashboard shows the wrong colours",
)
