//! The places that sessions take: so many in all, and so many of one address.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv6Addr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use codemode_protocol::text;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The places of one daemon.
pub(crate) struct Places {
    all: Arc<Semaphore>,
    bound: usize,
    address_bound: usize,
    taken: Mutex<HashMap<IpAddr, usize>>,
}

/// The place of one session; dropping it gives it back.
pub(crate) struct Place {
    of: Arc<Places>,
    address: IpAddr,
    _permit: OwnedSemaphorePermit,
}

/// Why there is no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Full {
    /// All are taken.
    All(usize),
    /// All that one address may take are.
    Address(usize),
}

impl Full {
    /// The bound, for a person.
    pub(crate) fn text(self) -> String {
        match self {
            Self::All(bound) => text::too_many_sessions(bound),
            Self::Address(bound) => text::too_many_sessions_of_address(bound),
        }
    }
}

impl Places {
    /// Places for `bound` sessions, `address_bound` of them for one address.
    pub(crate) fn new(bound: usize, address_bound: usize) -> Arc<Self> {
        let bound = bound.min(Semaphore::MAX_PERMITS);
        Arc::new(Self { all: Arc::new(Semaphore::new(bound)), bound, address_bound, taken: Mutex::default() })
    }

    /// Takes a place for a session of that address.
    pub(crate) fn take(self: &Arc<Self>, address: IpAddr) -> Result<Place, Full> {
        let address = holder(address);
        let mut taken = self.taken();
        if taken.get(&address).is_some_and(|taken| *taken >= self.address_bound) {
            return Err(Full::Address(self.address_bound));
        }
        let permit = self.all.clone().try_acquire_owned().map_err(|_| Full::All(self.bound))?;
        *taken.entry(address).or_default() += 1;
        Ok(Place { of: self.clone(), address, _permit: permit })
    }

    /// Resolves when every place is free.
    pub(crate) async fn all_free(&self) {
        // An error means that the semaphore was closed, which nobody does.
        let _ = self.all.acquire_many(u32::try_from(self.bound).unwrap_or(u32::MAX)).await;
    }

    fn taken(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        // The map is consistent between any two statements that can panic.
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.of.taken();
        if let Some(count) = taken.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                taken.remove(&self.address);
            }
        }
    }
}

/// Who an address stands for: an IPv6 host has a network of 2^64 addresses to choose from.
fn holder(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) if !address.is_loopback() => {
            IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64)))
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn places_are_bounded_in_all_and_by_address_and_come_back() {
        let places = Places::new(3, 2);
        let first = places.take(ip("10.0.0.1")).unwrap();
        let _second = places.take(ip("::ffff:10.0.0.1")).unwrap();
        assert_eq!(places.take(ip("10.0.0.1")).err(), Some(Full::Address(2)));
        let third = places.take(ip("10.0.0.2")).unwrap();
        assert_eq!(places.take(ip("10.0.0.3")).err(), Some(Full::All(3)));
        drop(third);
        drop(first);
        assert!(places.take(ip("10.0.0.1")).is_ok());
        assert_eq!(places.taken().len(), 1, "addresses without a session are forgotten");
    }

    #[test]
    fn a_network_of_one_host_counts_as_one_address() {
        let places = Places::new(9, 1);
        let _one = places.take(ip("2001:db8::1")).unwrap();
        assert_eq!(places.take(ip("2001:db8::2")).err(), Some(Full::Address(1)));
        assert!(places.take(ip("2001:db8:0:1::1")).is_ok());
    }
}
