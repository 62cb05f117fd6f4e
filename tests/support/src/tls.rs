//! TLS in front of a server: a certificate that nobody trusts until its authority is named, and HTTP/2 if that is
//! offered.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use tokio_util::sync::{CancellationToken, DropGuard};

/// Hands on to a server what comes over TLS. It ends when it is dropped.
#[derive(Debug)]
pub struct TlsFront {
    port: u16,
    authority: String,
    agreed: Arc<Mutex<Vec<String>>>,
    _stop: DropGuard,
}

impl TlsFront {
    /// Starts one before a server. `protocols` are what it offers, best first, such as `h2` and `http/1.1`.
    ///
    /// # Errors
    /// When no port is free, or no certificate can be made.
    pub async fn before(server: SocketAddr, protocols: &[&str]) -> io::Result<Self> {
        let (config, authority) = certified(protocols).map_err(io::Error::other)?;
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let port = listener.local_addr()?.port();
        let agreed = Arc::new(Mutex::new(Vec::new()));
        let stop = CancellationToken::new();
        let told = Arc::clone(&agreed);
        let ended = stop.clone();
        tokio::spawn(ended.run_until_cancelled_owned(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (acceptor, told) = (acceptor.clone(), Arc::clone(&told));
                // Whoever breaks off, on either side, is seen by the other.
                tokio::spawn(async move { hand_on(client, server, acceptor, &told).await });
            }
        }));
        Ok(Self {
            port,
            authority,
            agreed,
            _stop: stop.drop_guard(),
        })
    }

    /// Returns the address, without `/v1`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("https://localhost:{}", self.port)
    }

    /// Returns the certificate of the authority, as PEM.
    #[must_use]
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// Returns the protocol that was agreed on, for each connection so far.
    #[must_use]
    pub fn agreed(&self) -> Vec<String> {
        let agreed = self.agreed.lock();
        agreed.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

async fn hand_on(
    client: TcpStream,
    server: SocketAddr,
    acceptor: TlsAcceptor,
    told: &Mutex<Vec<String>>,
) -> io::Result<()> {
    let mut client = acceptor.accept(client).await?;
    let protocol = client.get_ref().1.alpn_protocol().unwrap_or_default();
    let protocol = String::from_utf8_lossy(protocol).into_owned();
    told.lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(protocol);
    let mut server = TcpStream::connect(server).await?;
    copy_bidirectional(&mut client, &mut server).await?;
    Ok(())
}

/// Returns what a server for `localhost` needs, and the authority that vouches for it.
fn certified(
    protocols: &[&str],
) -> Result<(ServerConfig, String), Box<dyn std::error::Error + Send + Sync>> {
    let mut authority = CertificateParams::default();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let name = &mut authority.distinguished_name;
    name.push(DnType::CommonName, "An authority of these tests");
    let authority_key = KeyPair::generate()?;
    let pem = authority.self_signed(&authority_key)?.pem();
    let issuer = Issuer::new(authority, authority_key);
    let key = KeyPair::generate()?;
    let certificate =
        CertificateParams::new(vec!["localhost".to_owned()])?.signed_by(&key, &issuer)?;
    let key = PrivateKeyDer::try_from(key.serialize_der())?;
    let provider = Arc::new(aws_lc_rs::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)?;
    config.alpn_protocols = protocols
        .iter()
        .map(|protocol| protocol.as_bytes().to_vec())
        .collect();
    Ok((config, pem))
}
