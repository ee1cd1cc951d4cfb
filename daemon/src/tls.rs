//! The server's end of TLS: one certificate, which may be replaced while the daemon serves.

use std::{
    fmt,
    sync::{Arc, PoisonError, RwLock},
};

use rustls::{
    ServerConfig,
    crypto::{CryptoProvider, ring},
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    server::{ClientHello, ResolvesServerCert},
    sign::CertifiedKey,
};
use tokio_rustls::TlsAcceptor;

/// TLS with a certificate. Clones share the certificate.
#[derive(Clone)]
pub struct Tls {
    config: Arc<ServerConfig>,
    certificate: Arc<Certificate>,
    provider: Arc<CryptoProvider>,
}

/// Why a certificate and a key cannot be used. Nothing of the key is repeated.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The certificates cannot be read.
    #[error("the certificate chain is not PEM with at least one certificate: {0}")]
    Chain(String),
    /// The key cannot be read.
    #[error("the private key is not PEM with one key (PKCS #8, PKCS #1 or SEC 1)")]
    Key,
    /// They are of no use together.
    #[error("certificate and private key cannot be used: {0}")]
    Pair(rustls::Error),
}

impl Tls {
    /// TLS 1.2 and 1.3 with a chain of certificates, the server's own first, and its private key, both in PEM.
    ///
    /// # Errors
    /// One cannot be read, or they do not belong together.
    pub fn new(chain: &[u8], key: &[u8]) -> Result<Self, TlsError> {
        let provider = Arc::new(ring::default_provider());
        let certificate = Arc::new(Certificate(RwLock::new(Arc::new(certified(&provider, chain, key)?))));
        let versions = ServerConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(TlsError::Pair)?;
        let mut config = versions.with_no_client_auth().with_cert_resolver(certificate.clone());
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { config: Arc::new(config), certificate, provider })
    }

    /// Shows another certificate from now on. Open connections go on.
    ///
    /// # Errors
    /// As [`Tls::new`]; the old certificate stays.
    pub fn replace(&self, chain: &[u8], key: &[u8]) -> Result<(), TlsError> {
        let certified = Arc::new(certified(&self.provider, chain, key)?);
        *self.certificate.0.write().unwrap_or_else(PoisonError::into_inner) = certified;
        Ok(())
    }

    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        self.config.clone().into()
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").finish_non_exhaustive()
    }
}

fn certified(provider: &CryptoProvider, chain: &[u8], key: &[u8]) -> Result<CertifiedKey, TlsError> {
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(chain).collect();
    let chain = chain.map_err(|error| TlsError::Chain(error.to_string()))?;
    if chain.is_empty() {
        return Err(TlsError::Chain("there is none".into()));
    }
    // The reader's error may show a line of the file.
    let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| TlsError::Key)?;
    CertifiedKey::from_der(chain, key, provider).map_err(TlsError::Pair)
}

/// The certificate that is shown now.
struct Certificate(RwLock<Arc<CertifiedKey>>);

impl ResolvesServerCert for Certificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.read().unwrap_or_else(PoisonError::into_inner).clone())
    }
}

impl fmt::Debug for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Certificate").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_and_a_key_that_cannot_be_used_are_refused_and_the_key_is_not_repeated() {
        let [one, other] = [(); 2].map(|()| rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap());
        let (chain, key) = (one.cert.pem(), one.signing_key.serialize_pem());
        let tls = Tls::new(chain.as_bytes(), key.as_bytes()).unwrap();
        let broken = key.replace("BEGIN PRIVATE", "BEGIN SECRET");
        let cases: [(&str, &str, &str); 5] = [
            ("", &key, "at least one certificate: there is none"),
            ("-----BEGIN CERTIFICATE-----\nSECRET", &key, "certificate"),
            (&chain, &broken, "the private key is not PEM"),
            (&chain, "", "the private key is not PEM"),
            (&chain, &other.signing_key.serialize_pem(), "cannot be used"),
        ];
        for (chain, key, rule) in cases {
            let error = tls.replace(chain.as_bytes(), key.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(rule) && !error.contains("SECRET"), "{rule}: {error}");
        }
        assert!(tls.replace(other.cert.pem().as_bytes(), other.signing_key.serialize_pem().as_bytes()).is_ok());
    }
}
