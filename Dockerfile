# A small image with the program alone: docker build -t queenfold . && docker run --rm queenfold run -n 16
#
# A run directory goes to a volume, which belongs to whoever starts the container:
#   docker run --rm -v "$PWD:/runs" -w /runs --user "$(id -u):$(id -g)" queenfold run -n 20 --dir n20
# Podman takes `--userns keep-id` for that. A GPU needs the container toolkit of its maker; the driver's libraries come
# from the host.

FROM docker.io/library/rust:1-slim-bookworm AS build
WORKDIR /src
COPY . .
RUN cargo build --locked --profile dist -p queenfold-cli

FROM docker.io/library/debian:bookworm-slim
LABEL org.opencontainers.image.title="Queenfold" \
    org.opencontainers.image.description="Counts every solution of the N-Queens problem" \
    org.opencontainers.image.source="https://github.com/queenfold/queenfold" \
    org.opencontainers.image.licenses="MIT OR Apache-2.0"
RUN useradd --create-home --uid 10001 queenfold
COPY LICENSE-APACHE LICENSE-MIT /usr/share/doc/queenfold/
COPY --from=build /src/target/dist/queenfold /usr/local/bin/queenfold
# By number, so that Kubernetes sees that it is not root.
USER 10001:10001
WORKDIR /home/queenfold
ENTRYPOINT ["queenfold"]
