# docker/mpi.Dockerfile - an image for several hosts: OpenMPI, and an sshd that runs as a user without rights.
#
#   docker build -f docker/mpi.Dockerfile --build-arg BASE=salient:cuda -t salient:cuda-mpi docker
#
# The MPI operator mounts the keys at /home/mpiuser/.ssh; deploy/kubernetes/train.yaml uses it.
ARG BASE=salient:cuda
# hadolint ignore=DL3006
FROM ${BASE}
USER root
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends openmpi-bin openssh-client openssh-server \
    && rm -rf /var/lib/apt/lists/* \
    && mkdir -p /run/sshd \
    && if id ubuntu >/dev/null 2>&1; then userdel --remove ubuntu; fi \
    && useradd --create-home --uid 1000 mpiuser
# The keys' folder is a read-only mount whose owner is root: nothing can be written there, nor its modes be strict.
RUN printf '%s\n' 'Port 2222' 'PidFile /home/mpiuser/sshd.pid' 'HostKey /home/mpiuser/.ssh/id_rsa' 'StrictModes no' \
      'AuthorizedKeysFile /home/mpiuser/.ssh/authorized_keys' >/home/mpiuser/.sshd_config \
    && printf '%s\n' 'Host *' '  Port 2222' '  StrictHostKeyChecking no' '  UserKnownHostsFile /dev/null' \
      '  IdentityFile /home/mpiuser/.ssh/id_rsa' '  LogLevel ERROR' >/etc/ssh/ssh_config.d/salient.conf
USER 1000
WORKDIR /work
CMD ["/usr/sbin/sshd", "-De", "-f", "/home/mpiuser/.sshd_config"]
