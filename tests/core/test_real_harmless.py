"""Facts on lines of healthy jobs that look like failures: settings, counters, probes, retries, reports.

Each line stands below its source: a public issue (repository and number) or the program that prints it.
"""

import pytest

from core.facts import Fact, fact_of
from core.model import Role
from tests.core.jobs import job, lines, parse

HARMLESS = (
    # ArjunaCluster/ArjunaUsers 137
    "[2022-05-27T10:42:30.155] _slurm_rpc_submit_batch_job: JobId=127441 InitPrio=5772 usec=1032",
    "[2022-05-27T10:42:30.509] sched: Allocate JobId=127441 NodeList=c014 #CPUs=2 Partition=gpu",
    # EleutherAI/gpt-neox 919
    "ML-01:  > WARNING: could not find index map files, building the indices on rank 0 ...",
    # MinaProtocol/mina 8887
    "Cancelling deletion of Pod devnet2/watchdog-764f4647bb-wptmh",
    # NVIDIA-NeMo/Speech 13913
    "[NeMo I 2025-06-13 03:49:26 utils:532] Setting up optimizer with config",
    # NVIDIA-NeMo/Speech 8332
    "[NeMo W 2024-02-05 13:11:21 nemo_logging:349]",
    # NVIDIA/nccl 1044
    "libibverbs: Warning: couldn't load driver 'libipathverbs-rdmav25.so': libipathverbs-rdmav25.so:",
    # NVIDIA/nccl 1241
    "[I ProcessGroupNCCL.cpp:850] [Rank 0] NCCL watchdog thread started!",
    "NCCL_ASYNC_ERROR_HANDLING: 1",
    "TIMEOUT(ms): 1800000",
    "NCCL_DESYNC_DEBUG: 0",
    # NVIDIA/nccl 1814
    "hostname-test:986:1338 [6] NCCL INFO NCCL_IB_TIMEOUT set by environment to 18.",
    "hostname-test:986:1338 [6] NCCL INFO NCCL_IB_RETRY_CNT set by environment to 15.",
    "hostname-test:985:1342 [5] NCCL INFO NCCL_IB_TC set by environment to 128.",
    # NVIDIA/nccl 259
    "# Out of bounds values : 0 OK",
    # NVIDIA/nccl 367
    "c6ad99331184:117305:117387 [0] NCCL INFO Could not find real path of /sys/class/net/eth0/device",
    # NVIDIA/nccl 952
    "gpu1:924:924 [5] NCCL INFO NET/IB : No device found.",
    # NVIDIA/nccl 997
    "TX errors 0  dropped 5 overruns 0  carrier 0  collisions 0",
    "| N/A   31C    P0    69W / 700W |      0MiB / 81559MiB |      0%      Default |",
    "| Fan  Temp  Perf  Pwr:Usage/Cap|         Memory-Usage | GPU-Util  Volatile Uncorr. ECC |",
    # NVIDIA/nccl-tests 166
    "ubuntu:9621:9621 [0] NCCL INFO NET/Plugin : Plugin load (libnccl-net.so) returned 2 :",
    "ubuntu:9621:9621 [0] NCCL INFO NET/Plugin : No plugin found, using internal implementation",
    "ubuntu:39964:40050 [6] NCCL INFO Failed to open libibverbs.so[.1]",
    # a public repository
    "[  314.090763] perf: interrupt took too long (2501 > 2500), lowering",
    "66%|██████▌   | 893/1352 [05:32<00:57,  7.92it/s]Gradient overflow.  Skipping step, loss scaler",
    "[1,0]<stdout>:Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to 4096.0",
    "2024-09-22 19:36:46.912216: W tensorflow/compiler/tf2tensorrt/utils/py_utils.cc:38] TF-TRT",
    "2022-04-28 04:09:21.924650: W tensorflow/stream_executor/platform/default/dso_loader.cc:64]",
    'Error.  nthreads cannot be larger than environment variable "NUMEXPR_MAX_THREADS" (64)',
    "[transformers] Token indices sequence length is longer than the specified maximum sequence",
    "9m15s       Normal    NodeReady              node/node3   Node node3 status is now: NodeReady",
    "41m   Normal   NodeHasNoDiskPressure   Node/ip-10-0-2-32.ec2.internal   Node",
    "41m   Normal   NodeHasSufficientMemory   Node/n2   Node n2 status is now:",
    "slurmctld: No memory enforcing mechanism configured.",
    "[Wed Jan 15 17:22:28 2025] Lustre: capstor-OST003a-osc-ffff3000ef06c000: Connection restored to",
    # a training script
    "socket timeout 600",
    "watchdog timeout ............ 600",
    "scancel_on_exit: False",
    "[rank0]:[I socket.cpp:573] [c10d] The server socket is listening; TCPStore server started",
    "8/8 clients joined",
    "all_reduce errors=0",
    # acids-ircam/RAVE 196
    "/content/miniconda/lib/python3.9/site-packages/torch/utils/data/dataloader.py:554: UserWarning:",
    "TPU available: False, using: 0 TPU cores",
    # ai4d-iasc/trixie 45
    "[2020-12-14T09:43:55.502] [63532.extern] done with job",
    # akash-network/support 244
    "[Wed Jul 31 23:14:18 2024] NVRM: GPU at PCI:0000:00:05: GPU-efbdfde9-5798-a6e7-4c46-12518fa15375",
    # apex
    "Warning:  multi_tensor_applier fused unscale kernel is unavailable, possibly because apex was",
    # argparse
    "--max-restarts N        number of worker group restarts before failing",
    # axolotl-ai-cloud/axolotl 1571
    "[2024-04-29 13:28:50,852] [INFO] [axolotl.load_tokenizer:293] [PID:343] [RANK:0] No Chat",
    # bash
    "bash: no job control in this shell",
    # boto
    "INFO botocore.credentials: Found credentials in environment variables.",
    # datasets
    "'(ReadTimeoutError(\"HTTPSConnectionPool(host='huggingface.co', port=443): Read timed out. (read",
    "Retrying in 1s [Retry 1/5].",
    # dcgm
    "| Page Retirement/Row Remap | Pass                                           |",
    # deepspeed
    "[2024-05-04 11:02:03,993] [INFO] [loss_scaler.py:190:update_scale] [deepspeed] OVERFLOW! Rank 0",
    '"zero_allow_untested_optimizer": true, "dump_state": false, "fail_on_error": false',
    '[INFO] [config.py:1001:print]   nebula_config ................ {"enabled": false,',
    "[INFO] [config.py:1001:print]   checkpoint_tag_validation_fail  False",
    # deepspeedai/DeepSpeed 5195
    "async_io ............... [NO] ....... [NO]",
    # deepspeedai/DeepSpeed 5599
    "meet the required dependencies to JIT install the op.",
    # ethtool
    "rx_errors: 0 tx_errors: 0 rx_crc_errors: 0",
    # facebookincubator/submitit 1701
    "submitit INFO (2022-07-12 04:18:45,881) - Job has not timed out. Ran 1 minutes out of requested",
    # generic
    "retry 1 of 5 succeeded after 3.2 s",
    "upload of /ckpt/step_100 succeeded on attempt 2",
    "health check OK: no Xid, no ECC errors, no link down since boot",
    "0 errors, 12 warnings",
    "{'eval_loss': 1.23, 'eval_error': 0.11, 'eval_runtime': 12.1}",
    "fault_tolerance: {enable: false, rank_heartbeat_timeout: 600, initial_rank_heartbeat_timeout:",
    "export NCCL_IB_TIMEOUT=23",
    "preemption checkpointing enabled, signal SIGUSR1",
    "resume: no checkpoint found in /ckpt, starting from scratch",
    # gloo
    "GLOO_SOCKET_IFNAME=eth0 NCCL_TIMEOUT=1800",
    # hccl
    "HCCL_CONNECT_TIMEOUT is set to 600 by environment variable and HCCL_EXEC_TIMEOUT to 1836",
    "[INFO] HCCL(2031,python3):2024-05-04 [externalinput.cc:300] HCCL set retry enable: 0, timeout",
    # hf
    "ddp_timeout=1800,",
    "ignore_data_skip=False, load_best_model_at_end=False, torch_empty_cache_steps=None,",
    # horovod/horovod 685
    "misc/ibvwrap.cu:63 NCCL WARN Failed to open libibverbs.so[.1]",
    # hpcaitech/ColossalAI 3595
    "Some weights of the model checkpoint at decapoda-research/llama-7b-hf were not used when",
    "- This IS NOT expected if you are initializing LlamaModel from the checkpoint of a model that",
    # huggingface/diffusers 856
    "2022-10-15 18:07:41.780474: W",
    # hydra
    "[2024-05-04 11:02:03,993][INFO] - Set the environment variable HYDRA_FULL_ERROR=1 for a",
    # ib
    "link_downed 0 symbol_error 0 link_error_recovery 0",
    "State: Active Physical state: LinkUp Rate: 200",
    # jax
    "INFO:jax._src.xla_bridge:Unable to initialize backend 'tpu': INTERNAL: Failed to open",
    # jax-ml/jax 22070
    "INFO:2024-06-25 00:34:55,109:jax._src.xla_bridge:889: Unable to initialize backend 'rocm':",
    # kernel
    "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12 19:39:15 UTC 2024",
    "nvidia-nvlink: Nvlink Core is being initialized, major device number 510",
    "EDAC MC0: 1 CE memory read error on CPU_SrcID#0_MC#0_Chan#1_DIMM#0 (channel:1)",
    "EDAC MC0: Giving out device to module skx_edac controller Skylake Socket#0 IMC#0: DEV",
    "pcieport 0000:00:01.0: AER: Corrected error received: 0000:01:00.0",
    "pcieport 0000:00:1c.0: AER: enabled with IRQ 122",
    "mce: CPU5: Core temperature above threshold, cpu clock throttled (total events = 1)",
    "Memory failure: 0x7740c0: recovery action for dirty page: Recovered",
    "GHES: APEI firmware first mode is enabled by APEI bit and WHEA _OSC.",
    "EXT4-fs (sda1): mounted filesystem with ordered data mode. Opts: errors=remount-ro",
    "systemd-fsck[512]: /dev/sda1: clean, 123456/24420352 files",
    "usb 1-8: reset high-speed USB device number 5 using ehci_hcd",
    "mlx5_core 0000:c1:00.0 ib0: Link up",
    "mlx5_core 0000:c1:00.0: E-Switch: Enable: mode(LEGACY), nvfs(1), necvfs(0), active vports(2)",
    "i40e 0000:5d:00.0 eno5: NIC Link is Up, 25 Gbps Full Duplex, Requested FEC: None",
    "nvme nvme0: 32/0/0 default/read/poll queues",
    "watchdog: NMI watchdog enabled, takes one hw-pmu counter",
    "iTCO_wdt: initialized. heartbeat=30 sec (nowayout=0)",
    "softdog: initialized. soft_noboot=0 soft_margin=60 sec soft_panic=0",
    # kubeflow/mpi-operator 651
    "backoffLimit: 3",
    "activeDeadlineSeconds: 86400",
    # kubeflow/trainer 963
    'time="2019-03-26T17:45:38Z" level=info msg="Ignoring inactive pod default/ps-0 in state',
    # kubernetes/kubernetes 132001
    "May 28 16:05:50 192-168-250-5 kubelet[2269385]: I0528 16:05:50.514706 2269385",
    # lightning
    "SLURM auto-requeueing enabled. Setting signal handlers.",
    "INFO: `Trainer.fit` stopped: `max_steps=1000` reached.",
    # matplotlib
    "findfont: Font family 'Times New Roman' not found.",
    # maxtext
    "Config param preemption_checkpoint: False",
    "Config param jax_distributed_initialization_timeout: 300",
    # megatron
    "exit_on_missing_checkpoint ...................... False",
    "check_for_nan_in_loss_and_grad .................. True",
    "error_injection_rate ............................ 0",
    "error_injection_type ............................ transient_error",
    "distributed_timeout_minutes ..................... 10",
    "exit_signal ..................................... SIGTERM",
    "exit_signal_handler ............................. False",
    "num_restarts_on_failure ......................... 3",
    "iteration      100/   2000 | consumed samples:       102400 | elapsed time per iteration (ms):",
    "fused kernels: Skipping import of cpp extensions due to incompatible torch version 2.2.0 for",
    "WARNING: could not find the metadata file /ckpt/latest_checkpointed_iteration.txt , will not",
    # meta-pytorch/torchforge 568
    "step 747: checkpoint saved, errors: 0",
    # modal-labs/llm-finetuning 82
    "You are attempting to use Flash Attention 2.0 with a model not initialized on GPU. Make sure to",
    # mpi
    "[n1:12345] 7 more processes have sent help message help-mpi-btl-openib.txt / ib port not",
    # nfs
    "nfs: server fs.tcblab OK",
    # numactl
    "libnuma: Warning: cpu argument 0-31 is out of range",
    # nvidia-smi
    "Remapped Rows: Correctable Error : 0, Uncorrectable Error : 0, Pending : No, Remapping Failure",
    "SRAM Uncorrectable                : 0",
    "Double Bit ECC                    : 0",
    "ECC Errors: Volatile: DRAM Uncorrectable : 0",
    "ECC Mode: Current : Enabled",
    # nvrx
    "[workload:n1(0) local_rank=0] FT: heartbeat timeouts updated: initial=1200, subsequent=600",
    # peft
    "FutureWarning: You are using `torch.load` with `weights_only=False`, which uses the default",
    # python
    "/usr/lib/python3.10/multiprocessing/resource_tracker.py:224: UserWarning: resource_tracker:",
    # pytorch
    "[W Utils.hpp:133] Warning: Environment variable NCCL_ASYNC_ERROR_HANDLING is deprecated; use",
    "[I ProcessGroupNCCL.cpp:840] [Rank 0] NCCL_BLOCKING_WAIT: 0, TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC:",
    "UserWarning: Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0",
    "/opt/conda/lib/python3.10/site-packages/torch/utils/checkpoint.py:429: UserWarning:",
    # pytorch/pytorch 77523
    "INFO:torch.distributed.launcher.api:Starting elastic_operator with launch configs:",
    "rdzv_configs     : {'rank': 1, 'timeout': 900}",
    "max_restarts     : 0",
    "INFO:torch.distributed.elastic.agent.server.api:[default] Rendezvous complete for workers.",
    # ray
    "(autoscaler +1m) Adding 2 node(s) of type worker, no failures",
    "(raylet) [2024-05-04 11:02:03,993 I 12 12] node_manager.cc:626: The raylet has started, memory",
    "(Worker pid=2113) INFO 0 workers failed, 8 workers alive",
    # s3fs
    "WARNING s3fs: Got disconnected from remote data host. Retrying in 5sec [1/20]",
    # slurm
    "slurmctld: debug:  Node n1 has low real_memory size (435161 < 443596)",
    "KillOnBadExit          = 0",
    "KillWait               = 30 sec",
    "PreemptMode             = CANCEL",
    "SlurmctldTimeout        = 300 sec",
    "BatchFlag=1 Reboot=0 ExitCode=0:0",
    "JobState=RUNNING Reason=None Dependency=(null) Requeue=1 Restarts=0 BatchFlag=1",
    "TimeLimit=2-00:00:00 TimeMin=N/A",
    "Power= KillOInInvalidDependent=No NtasksPerTRES:0",
    "slurmd: debug:  Waiting for job 77's prolog to complete",
    "srun: warning: can't run 1 processes on 2 nodes, setting nnodes to 1",
    "srun: Job step creation temporarily disabled, retrying (Requested nodes are busy)",
    "Job 77 step creation still disabled, retrying (Requested nodes are busy)",
    # ssh
    "Warning: Permanently added '[10.0.0.2]:2222' (ED25519) to the list of known hosts.",
    # systemd
    "systemd[1]: nvidia-fabricmanager.service: Succeeded.",
    "systemd[1]: session-12.scope: Deactivated successfully.",
    "systemd[1]: Stopping User Manager for UID 1000...",
    # tensorflow
    "2024-05-04 11:02:03.123: E external/local_xla/xla/stream_executor/cuda/cuda_dnn.cc:9261] Unable",
    "E0000 00:00:1733000000.123456  1234 cuda_blas.cc:1418] Unable to register cuBLAS factory:",
    # torchrun
    "INFO:torch.distributed.elastic.agent.server.api:[default] worker group successfully finished.",
    "INFO:torch.distributed.elastic.agent.server.api:Local worker group finished",
    "INFO:torch.distributed.elastic.agent.server.api:Done waiting for other agents. Elapsed: 0.00042",
    "Setting OMP_NUM_THREADS environment variable for each process to be 1 in default, to avoid your",
    # torchtitan
    "[rank0]:[titan] 2025-09-11 17:33:50,432 - root - INFO - Synchronizing and adjusting timeout for",
    # tqdm
    "Generating train split: 1000 examples [00:00, 5211.23 examples/s, errors=0]",
    # transformers
    "`use_cache=True` is incompatible with gradient checkpointing. Setting `use_cache=False`.",
    "Setting `pad_token_id` to `eos_token_id`:2 for open-end generation.",
    "You are using a model of type llama to instantiate a model of type mistral. This is not",
    "The model weights are not tied. Please use the `tie_weights` method before using the",
    # urllib3
    "WARNING:urllib3.connectionpool:Retrying (Retry(total=2, connect=None, read=None, redirect=None,",
    # verl
    "'ppo_max_token_len': 16384, 'nccl_timeout': 600, 'fail_on_nan': True",
    # vllm
    "INFO 05-04 11:02:03 config.py:1210] Disabled the custom all-reduce kernel because it is not",
    # wandb
    "wandb: 429 encountered (Filestream rate limit exceeded, retrying in 2.4 seconds.), retrying",
    "wandb: ERROR Error while calling W&B API: internal database error, retrying (<Response [500]>)",
    "wandb: Run history: train/skipped_nan_batches ▁▁▁▁▁",
    # wandb/wandb 2039
    "wandb: Network error (ReadTimeout), entering retry loop.",
    # wandb/wandb 805
    "wandb: Network error (TransientException), entering retry loop.",
)


def meaning(line: str) -> Fact | None:
    """What a line means, by its template as a job has it."""
    template = parse(job({"a.log": lines(line)})).table.templates[-1]
    return fact_of(template.sample, block=template.block)


@pytest.mark.parametrize("line", HARMLESS)
def test_a_harmless_line_points_to_nothing(line: str) -> None:
    """Neither a fact nor a guess from its words makes it more than a benign message."""
    fact = meaning(line)

    assert fact is None or fact.again or fact.role is Role.BENIGN
