//! Where log lines and spans go: lines to standard error, spans to a collector where one is named.

use std::{collections::HashMap, io::IsTerminal, sync::Arc};

use codemode_daemon::TraceParent;
use codemode_protocol::LOCAL_NODE;
use opentelemetry::{propagation::TextMapPropagator, trace::TracerProvider};
use opentelemetry_otlp::{SpanExporter, WithExportConfig};
use opentelemetry_sdk::{Resource, propagation::TraceContextPropagator, trace::SdkTracerProvider};
use tracing::{Level, Span, level_filters::LevelFilter, warn};
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::{EnvFilter, Layer, filter::Targets, layer::SubscriberExt, util::SubscriberInitExt};

use crate::{exit::Failure, settings::Settings};

/// What has begun.
pub(crate) struct Telemetry {
    spans: Option<SdkTracerProvider>,
}

impl Telemetry {
    /// Begins as the settings of `serve` say.
    ///
    /// # Errors
    /// A filter or URL that cannot be used.
    pub(crate) fn of(settings: &Settings) -> Result<Self, Failure> {
        let otlp = settings.otlp.value.as_deref();
        start(&settings.log.value, settings.log_format.value == "json", otlp, &settings.node.value)
    }

    /// Begins with lines for what goes wrong alone.
    ///
    /// # Errors
    /// None that can happen; the filter is ours.
    pub(crate) fn warnings() -> Result<Self, Failure> {
        start("warn", false, None, LOCAL_NODE)
    }

    /// Sends the spans that are still to be sent.
    pub(crate) fn end(self) {
        if let Some(Err(error)) = self.spans.map(|spans| spans.shutdown()) {
            warn!(%error, "some spans were not sent");
        }
    }
}

/// Log lines that `filter` lets through go to standard error, spans to the OTLP collector at the URL `otlp`.
fn start(filter: &str, json: bool, otlp: Option<&str>, node: &str) -> Result<Telemetry, Failure> {
    let filter = EnvFilter::try_new(filter).map_err(|error| Failure::usage(format!("log {filter:?}: {error}")))?;
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let lines = match json {
        false => lines.with_ansi(std::io::stderr().is_terminal()).with_filter(filter).boxed(),
        true => lines.json().with_filter(filter).boxed(),
    };
    let spans = otlp.map(|url| exporter(url, node)).transpose()?;
    let exported = spans.as_ref().map(|provider| {
        // Spans of ours and of nobody else, whatever is logged. Payloads are for the log alone, and stay here.
        let ours = Targets::new()
            .with_target("codemode_daemon", Level::INFO)
            .with_target("codemode_daemon::payloads", LevelFilter::OFF);
        tracing_opentelemetry::layer().with_tracer(provider.tracer("codemoded")).with_filter(ours)
    });
    tracing_subscriber::registry().with(lines).with(exported).init();
    Ok(Telemetry { spans })
}

fn exporter(url: &str, node: &str) -> Result<SdkTracerProvider, Failure> {
    // An error means that the process has a provider already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let exporter = SpanExporter::builder()
        .with_http()
        .with_endpoint(url)
        .build()
        .map_err(|error| Failure::usage(format!("otlp {url}: {error}")))?;
    let resource = Resource::builder()
        .with_service_name("codemoded")
        .with_attribute(opentelemetry::KeyValue::new("service.instance.id", node.to_owned()))
        .with_attribute(opentelemetry::KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
        .build();
    Ok(SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource).build())
}

/// Makes a run's span a child of the one that its request names (W3C Trace Context).
pub(crate) fn trace_parent() -> TraceParent {
    Arc::new(|span: &Span, traceparent: &str| {
        let carrier = HashMap::from([("traceparent".to_owned(), traceparent.to_owned())]);
        // An error means that spans are not exported.
        let _ = span.set_parent(TraceContextPropagator::new().extract(&carrier));
    })
}
