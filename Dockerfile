# The course with its compiler and a warm cache of kernels: for docker run, JupyterHub on Kubernetes, devcontainers, repo2docker.
#   docker build -t gn_tutorial .
#   docker run --rm -it --shm-size=1g -p 8888:8888 gn_tutorial
# Its commands were run on Debian 12 one by one; the image itself was not built here.
FROM python:3.12-slim-bookworm

RUN apt-get update \
 && apt-get install --yes --no-install-recommends g++ git tini \
 && rm -rf /var/lib/apt/lists/*

# Names that repo2docker and JupyterHub's images use.
ARG NB_USER=jovyan
ARG NB_UID=1000
ENV USER=${NB_USER} HOME=/home/${NB_USER} SHELL=/bin/bash
RUN adduser --disabled-password --gecos "" --uid ${NB_UID} ${NB_USER}

# jupyterhub: its jupyterhub-singleuser has to be of the hub's major version.
ARG JUPYTERHUB=6.*
COPY . /opt/gn_tutorial
RUN pip install --no-cache-dir --index-url https://download.pytorch.org/whl/cpu "torch==2.13.0" \
 && pip install --no-cache-dir "/opt/gn_tutorial[lab,torch]" "jupyterhub==${JUPYTERHUB}"

# Kernels compiled once by root, at the place where learners have the course; their own caches lie over it.
# See docs/platforms.md, "A cache shared by a class".
RUN cd /tmp && GNT_CACHE_DIR=/srv/gnt_cache gnt tour \
 && GNT_CACHE_DIR=/srv/gnt_cache GNT_COURSE_DIR=/tmp/course gnt lab --copies \
 && GNT_CACHE_DIR=/srv/gnt_cache GNT_COURSE_DIR=/tmp/course gnt doctor --class \
 && rm -rf /tmp/* && chmod -R a-w /srv/gnt_cache
ENV GNT_CACHE_BASE=/srv/gnt_cache

USER ${NB_USER}
WORKDIR /home/${NB_USER}
EXPOSE 8888
ENTRYPOINT ["tini", "--"]
CMD ["gnt", "lab", "--no-browser", "--port", "8888", "--ip=0.0.0.0"]
