//! The fields of a frame: written one after the other, and taken off the front of a payload that nobody vouches for.

use super::{FrameError, HEADER_BYTES};

/// Builds one frame; the length is filled in at the end.
pub(super) struct Writer {
    out: Vec<u8>,
}

impl Writer {
    pub(super) fn new(kind: u8, capacity: usize) -> Self {
        let mut out = Vec::with_capacity(HEADER_BYTES + capacity);
        out.extend_from_slice(&[0, 0, 0, 0, kind]);
        Self { out }
    }

    pub(super) fn u8(&mut self, value: u8) {
        self.out.push(value);
    }

    pub(super) fn u32(&mut self, value: u32) {
        self.out.extend_from_slice(&value.to_le_bytes());
    }

    pub(super) fn u64(&mut self, value: u64) {
        self.out.extend_from_slice(&value.to_le_bytes());
    }

    pub(super) fn length(&mut self, value: usize) {
        self.u32(u32::try_from(value).expect("frame fields are bounded far below 4 GiB by the contract"));
    }

    pub(super) fn bytes(&mut self, value: &[u8]) {
        self.length(value.len());
        self.out.extend_from_slice(value);
    }

    pub(super) fn text(&mut self, value: &str) {
        self.bytes(value.as_bytes());
    }

    pub(super) fn optional_text(&mut self, value: Option<&str>) {
        self.u8(u8::from(value.is_some()));
        if let Some(value) = value {
            self.text(value);
        }
    }

    pub(super) fn optional_u32(&mut self, value: Option<u32>) {
        self.u8(u8::from(value.is_some()));
        if let Some(value) = value {
            self.u32(value);
        }
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        let rest = u32::try_from(self.out.len() - 4).expect("frames are bounded far below 4 GiB by the contract");
        self.out[..4].copy_from_slice(&rest.to_le_bytes());
        self.out
    }
}

/// Takes fields off the front of a payload.
pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn new(payload: &'a [u8]) -> Self {
        Self { rest: payload }
    }

    pub(super) fn take<const N: usize>(&mut self) -> Result<[u8; N], FrameError> {
        let (head, tail) = self.rest.split_first_chunk::<N>().ok_or(FrameError::Truncated)?;
        self.rest = tail;
        Ok(*head)
    }

    pub(super) fn u8(&mut self) -> Result<u8, FrameError> {
        self.take::<1>().map(|[byte]| byte)
    }

    pub(super) fn bool(&mut self) -> Result<bool, FrameError> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(FrameError::BadField),
        }
    }

    pub(super) fn u32(&mut self) -> Result<u32, FrameError> {
        self.take().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, FrameError> {
        self.take().map(u64::from_le_bytes)
    }

    pub(super) fn f64(&mut self) -> Result<f64, FrameError> {
        let value = f64::from_bits(self.u64()?);
        if value.is_finite() { Ok(value) } else { Err(FrameError::BadField) }
    }

    pub(super) fn bytes(&mut self) -> Result<&'a [u8], FrameError> {
        let length = self.u32()? as usize;
        let (bytes, tail) = self.rest.split_at_checked(length).ok_or(FrameError::Truncated)?;
        self.rest = tail;
        Ok(bytes)
    }

    pub(super) fn text(&mut self) -> Result<String, FrameError> {
        std::str::from_utf8(self.bytes()?).map(str::to_owned).map_err(|_| FrameError::NotUtf8)
    }

    pub(super) fn optional<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, FrameError>,
    ) -> Result<Option<T>, FrameError> {
        if self.bool()? { read(self).map(Some) } else { Ok(None) }
    }

    pub(super) fn end(&self) -> Result<(), FrameError> {
        if self.rest.is_empty() { Ok(()) } else { Err(FrameError::Trailing) }
    }
}
