"""Programs that write to a node's journal or stand beside a pod's main container, and are no part of the training."""

import re

# The kernel, systemd and its parts, what runs jobs and containers (Slurm, Kubernetes, Docker), NVIDIA's and AMD's
# services, log-in and time; identifiers as each has them in the journal.
_DAEMONS = re.compile(
    rb"(?:kernel|audit|systemd[\w@.()-]*|\(sd-[\w-]+\)|init\.scope|dbus[\w-]*|polkitd|udevd|irqbalance|cron|CRON|crond|anacron"
    rb"|rsyslogd?|auditd|sshd[\w-]*|sudo|su|login|chronyd|ntpd|NetworkManager|dhclient|dhcpcd|smartd|mcelog|rasdaemon|abrtd?"
    rb"|earlyoom|oomd|ipmievd|slurm(?:d|stepd|ctld|dbd)|munged?|pbs_mom|sge_execd|kubelet|kube-proxy|containerd[\w-]*|crio|dockerd"
    rb"|node-problem-detector|podman|runc|nvidia-[\w-]+|nv-hostengine|nv-fabricmanager|dcgm[\w-]*|amdgpu[\w-]*|rocm[\w-]*|opensmd?|openibd|srp_daemon"
    rb"|lustre[\w-]*|mmfsd?|mmsysmon[\w.]*|weka[\w-]*|beegfs[\w-]*|node_exporter|telegraf|fluent-?bit|fluentd|promtail|vector"
    rb"|filebeat|istio-proxy|linkerd-proxy|cloud-init|amazon-ssm-agent|google_[\w-]+|waagent|snapd|multipathd|iscsid|rpcbind"
    rb"|rpc\.[\w-]+|nfs[\w-]*|autofs|automount|sssd[\w]*"
    rb"|(?!.*(?:train|distributed|head|pod|cloud))[a-z][a-z0-9_-]*[a-z]{2}d"  # as daemons are called; node-d is none
    rb")(?:\.service|\.scope)?"
)


def is_daemon(unit: bytes) -> bool:
    """Whether a unit or identifier, with its process id or without, is a node's own."""
    return _DAEMONS.fullmatch(unit.partition(b"[")[0]) is not None
