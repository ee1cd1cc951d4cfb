//! The client's end of TLS.

use std::{io, sync::Arc};

use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, ServerName, pem::PemObject},
};
use tokio_rustls::{TlsConnector, client::TlsStream};

use crate::{client::ConnectError, meter::Metered};

/// Reads certificates in PEM, for [`ConnectOptions::root_certificates`](crate::ConnectOptions::root_certificates).
///
/// # Errors
/// There is none, or what is there is not PEM; the text says so.
pub fn certificates_from_pem(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match certificates {
        Ok(certificates) if !certificates.is_empty() => Ok(certificates),
        Ok(_) => Err("there is no certificate in PEM".to_owned()),
        Err(error) => Err(format!("the certificates are not PEM: {error}")),
    }
}

/// Speaks TLS over `stream` with the server that is called `host`.
pub(crate) async fn connect(
    host: &str,
    stream: Metered,
    roots: &[CertificateDer<'static>],
) -> Result<TlsStream<Metered>, ConnectError> {
    let name = ServerName::try_from(host.to_owned()).map_err(|error| ConnectError::Url(error.to_string()))?;
    let connector = TlsConnector::from(Arc::new(config(roots)?));
    connector.connect(name, stream).await.map_err(failed)
}

fn config(extra: &[CertificateDer<'static>]) -> Result<ClientConfig, ConnectError> {
    let mut roots: RootCertStore = webpki_roots::TLS_SERVER_ROOTS.iter().cloned().collect();
    for certificate in extra {
        let added = roots.add(certificate.clone());
        added.map_err(|error| ConnectError::Tls(format!("a root certificate cannot be used: {error}")))?;
    }
    let versions = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let versions =
        versions.with_safe_default_protocol_versions().map_err(|error| ConnectError::Tls(error.to_string()))?;
    Ok(versions.with_root_certificates(roots).with_no_client_auth())
}

fn failed(error: io::Error) -> ConnectError {
    let Some(failure) = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) else {
        return ConnectError::Unreachable(error);
    };
    ConnectError::Tls(match failure {
        rustls::Error::InvalidMessage(_) => format!("the server does not speak TLS; is it a ws:// URL? ({failure})"),
        other => format!("no TLS with the server: {other}"),
    })
}
