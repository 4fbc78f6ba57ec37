//! A network that can be cut: it stops carrying bytes, and says nothing about it.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pub struct Proxy {
    port: u16,
    is_cut: Arc<AtomicBool>,
    is_over: Arc<AtomicBool>,
}

impl Proxy {
    /// Carries what comes to a port of its own to `port`.
    pub fn to(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let proxy = Self {
            port: listener.local_addr().unwrap().port(),
            is_cut: Arc::default(),
            is_over: Arc::default(),
        };
        let (is_cut, is_over) = (Arc::clone(&proxy.is_cut), Arc::clone(&proxy.is_over));
        std::thread::spawn(move || {
            for inner in listener.incoming() {
                if is_over.load(Ordering::Relaxed) {
                    return;
                }
                let (Ok(inner), Ok(outer)) = (inner, TcpStream::connect(("127.0.0.1", port)))
                else {
                    continue;
                };
                for (from, to) in [
                    (inner.try_clone().unwrap(), outer.try_clone().unwrap()),
                    (outer, inner),
                ] {
                    let is_cut = Arc::clone(&is_cut);
                    std::thread::spawn(move || carry(from, to, &is_cut));
                }
            }
        });
        proxy
    }

    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    pub fn cut(&self) {
        self.is_cut.store(true, Ordering::Relaxed);
    }

    pub fn mend(&self) {
        self.is_cut.store(false, Ordering::Relaxed);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.mend();
        // So that the listener looks.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

fn carry(mut from: TcpStream, mut to: TcpStream, is_cut: &AtomicBool) {
    let mut bytes = [0; 1 << 14];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        while is_cut.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(20));
        }
        if to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}
