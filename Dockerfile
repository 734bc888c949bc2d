# The app with all it needs to answer without a network. docs/deploy.md says how to run it.
ARG PYTHON=3.11.14-slim-bookworm

FROM python:${PYTHON} AS build
# The CPU build of torch; the other one brings gigabytes of CUDA.
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
# hosted: OpenAI, Anthropic and Google; mcp: the MCP server
ARG EXTRAS=hosted,mcp
WORKDIR /src
RUN python -m venv /opt/askabstracts
ENV PATH=/opt/askabstracts/bin:$PATH \
    PIP_NO_CACHE_DIR=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1
COPY constraints.txt ./
RUN pip install --no-deps -c constraints.txt --index-url "$TORCH_INDEX" torch
COPY pyproject.toml README.md LICENSE ./
COPY rag ./rag
COPY ui ./ui
COPY eval ./eval
RUN pip install -c constraints.txt ".[$EXTRAS]"
COPY docker/healthcheck.py /opt/askabstracts/healthcheck.py

FROM python:${PYTHON}
RUN useradd --uid 10001 --user-group --no-log-init --create-home askabstracts \
    && install -d -o askabstracts -g askabstracts /data
COPY --from=build /opt/askabstracts /opt/askabstracts
ENV PATH=/opt/askabstracts/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    HF_HOME=/data/huggingface \
    RAG_DATA=/data \
    RAG_LOG=json
USER 10001:10001
WORKDIR /home/askabstracts
VOLUME /data
EXPOSE 7860
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s --retries=3 \
    CMD ["python", "/opt/askabstracts/healthcheck.py"]
# Within the container it listens to all; RAG_AUTH=user:password asks who comes.
CMD ["rag", "serve", "--host", "0.0.0.0"]
