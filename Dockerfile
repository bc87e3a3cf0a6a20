# One static program on an empty base: make image, or docker build -t loyalty .
# The repository is not in the context, so the version is told: --build-arg VERSION=… --build-arg REVISION=…
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
ARG TARGETOS TARGETARCH VERSION REVISION
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -tags nomsgpack -trimpath -ldflags "-s -w -X 'main.builtVersion=$VERSION' -X 'main.builtRevision=$REVISION'" -o /out/usr/bin/loyalty ./server/cmd/loyalty \
 && mkdir -p /out/data /out/tmp /out/etc/ssl/certs && chmod 0700 /out/data && chmod 1777 /out/tmp \
 && cp /etc/ssl/certs/ca-certificates.crt /out/etc/ssl/certs/ && chown -R 65532:65532 /out/data

FROM scratch
COPY --from=build /out /
USER 65532:65532
ENV PATH=/usr/bin LOYALTY_DATA=/data LOYALTY_LISTEN=0.0.0.0:8080 LOYALTY_LOG=json
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["loyalty", "healthcheck"]
ENTRYPOINT ["loyalty"]
CMD ["serve"]
