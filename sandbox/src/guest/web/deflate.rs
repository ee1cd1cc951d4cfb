//! The three formats of the Compression standard, in pieces: DEFLATE as it is (RFC 1951), in zlib's frame (RFC 1950) and
//! in gzip's (RFC 1952). Knows nothing of the engine.

use flate2::{Compress, Compression, Crc, Decompress, FlushCompress, FlushDecompress, Status};

/// The frame around DEFLATE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// None.
    Raw,
    /// Of two bytes, and a checksum.
    Zlib,
    /// A header, and a checksum with the length.
    Gzip,
}

/// What one step did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    /// Bytes of the input that are done with.
    pub(crate) read: usize,
    /// Bytes of the output that were written.
    pub(crate) written: usize,
}

/// The input is not of its format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Damaged;

/// Compresses.
#[derive(Debug)]
pub(crate) struct Deflater {
    format: Format,
    codec: Compress,
    crc: Crc,
    /// What is to be written before anything that `codec` writes, and after it.
    frame: Vec<u8>,
    ended: bool,
}

impl Deflater {
    /// Begins, at the level that is usual.
    pub(crate) fn new(format: Format) -> Self {
        let frame = if format == Format::Gzip { GZIP_HEADER.to_vec() } else { Vec::new() };
        let codec = Compress::new(Compression::default(), format == Format::Zlib);
        Self { format, codec, crc: Crc::new(), frame, ended: false }
    }

    /// Whether everything was written, after the last input.
    pub(crate) fn is_done(&self) -> bool {
        self.ended && self.frame.is_empty()
    }

    /// Takes some of the input and fills some of the output. With room left in the output all input was taken, and,
    /// if it is the last, everything written.
    ///
    /// # Errors
    /// When it is called after its end.
    pub(crate) fn step(&mut self, input: &[u8], output: &mut [u8], last: bool) -> Result<Progress, Damaged> {
        let mut done = Progress::default();
        loop {
            done.written += self.write_frame(&mut output[done.written..]);
            if self.ended || done.written == output.len() {
                return Ok(done);
            }
            let (before_in, before_out) = (self.codec.total_in(), self.codec.total_out());
            let flush = if last { FlushCompress::Finish } else { FlushCompress::None };
            let status = self.codec.compress(&input[done.read..], &mut output[done.written..], flush);
            let (read, written) = (self.codec.total_in() - before_in, self.codec.total_out() - before_out);
            self.crc.update(&input[done.read..done.read + read as usize]);
            done.read += read as usize;
            done.written += written as usize;
            match status.map_err(|_| Damaged)? {
                Status::StreamEnd => self.end(),
                _ if read == 0 && written == 0 => return Ok(done),
                _ if !last && done.read == input.len() && done.written < output.len() => return Ok(done),
                _ => {}
            }
        }
    }

    fn end(&mut self) {
        self.ended = true;
        if self.format == Format::Gzip {
            self.frame.extend_from_slice(&self.crc.sum().to_le_bytes());
            self.frame.extend_from_slice(&self.crc.amount().to_le_bytes());
        }
    }

    fn write_frame(&mut self, output: &mut [u8]) -> usize {
        let length = self.frame.len().min(output.len());
        output[..length].copy_from_slice(&self.frame[..length]);
        self.frame.drain(..length);
        length
    }
}

/// Decompresses.
#[derive(Debug)]
pub(crate) struct Inflater {
    stage: Stage,
    format: Format,
    codec: Decompress,
    crc: Crc,
}

/// Where in its frame the input is.
#[derive(Debug)]
enum Stage {
    Header(Header),
    Body,
    /// Checksum and length, as many bytes as there are.
    Trailer {
        bytes: [u8; 8],
        length: usize,
    },
    Done,
}

impl Inflater {
    /// Begins.
    pub(crate) fn new(format: Format) -> Self {
        let stage = if format == Format::Gzip { Stage::Header(Header::new()) } else { Stage::Body };
        Self { stage, format, codec: Decompress::new(format == Format::Zlib), crc: Crc::new() }
    }

    /// Whether the input's end was reached, checksum included.
    pub(crate) fn is_done(&self) -> bool {
        matches!(self.stage, Stage::Done)
    }

    /// Takes some of the input and fills some of the output. With room left in the output all input was taken, unless
    /// the end was reached; behind it nothing is taken.
    ///
    /// # Errors
    /// For input that is not of its format.
    pub(crate) fn step(&mut self, input: &[u8], output: &mut [u8]) -> Result<Progress, Damaged> {
        let mut done = Progress::default();
        loop {
            match &mut self.stage {
                Stage::Done => return Ok(done),
                Stage::Header(header) => {
                    let Some(&byte) = input.get(done.read) else { return Ok(done) };
                    done.read += 1;
                    if header.take(byte)? {
                        self.stage = Stage::Body;
                    }
                }
                Stage::Trailer { bytes, length } => {
                    let Some(&byte) = input.get(done.read) else { return Ok(done) };
                    done.read += 1;
                    bytes[*length] = byte;
                    *length += 1;
                    if *length == bytes.len() {
                        let expected = u64::from(self.crc.amount()) << 32 | u64::from(self.crc.sum());
                        if u64::from_le_bytes(*bytes) != expected {
                            return Err(Damaged);
                        }
                        self.stage = Stage::Done;
                    }
                }
                Stage::Body => {
                    let (before_in, before_out) = (self.codec.total_in(), self.codec.total_out());
                    let room = &mut output[done.written..];
                    let status = self.codec.decompress(&input[done.read..], room, FlushDecompress::None);
                    let status = status.map_err(|_| Damaged)?;
                    let (read, written) = (self.codec.total_in() - before_in, self.codec.total_out() - before_out);
                    self.crc.update(&room[..written as usize]);
                    done.read += read as usize;
                    done.written += written as usize;
                    match status {
                        Status::StreamEnd if self.format == Format::Gzip => {
                            self.stage = Stage::Trailer { bytes: [0; 8], length: 0 };
                        }
                        Status::StreamEnd => self.stage = Stage::Done,
                        _ if read == 0 && written == 0 => return Ok(done),
                        _ => {}
                    }
                }
            }
        }
    }
}

/// A gzip header (RFC 1952, 2.3), byte by byte.
#[derive(Debug)]
struct Header {
    part: Part,
    flags: u8,
    crc: Crc,
}

#[derive(Debug)]
enum Part {
    /// The ten bytes that are always there; the index of the next.
    Fixed(usize),
    ExtraLow,
    ExtraHigh(u8),
    Extra(u16),
    Name,
    Comment,
    CheckLow,
    CheckHigh(u8),
}

impl Header {
    fn new() -> Self {
        Self { part: Part::Fixed(0), flags: 0, crc: Crc::new() }
    }

    /// Whether this byte is the last of the header.
    fn take(&mut self, byte: u8) -> Result<bool, Damaged> {
        let sum = self.crc.sum();
        self.crc.update(&[byte]);
        match self.part {
            Part::Fixed(at) => {
                match at {
                    // The only method is 8, DEFLATE.
                    0..3 if byte != GZIP_HEADER[at] => return Err(Damaged),
                    3 if byte & RESERVED != 0 => return Err(Damaged),
                    3 => self.flags = byte,
                    _ => {}
                }
                if at < 9 {
                    self.part = Part::Fixed(at + 1);
                    return Ok(false);
                }
                return Ok(self.after(0));
            }
            Part::ExtraLow => self.part = Part::ExtraHigh(byte),
            Part::ExtraHigh(low) => match u16::from_le_bytes([low, byte]) {
                0 => return Ok(self.after(EXTRA)),
                length => self.part = Part::Extra(length),
            },
            Part::Extra(1) => return Ok(self.after(EXTRA)),
            Part::Extra(left) => self.part = Part::Extra(left - 1),
            Part::Name if byte == 0 => return Ok(self.after(NAME)),
            Part::Comment if byte == 0 => return Ok(self.after(COMMENT)),
            Part::Name | Part::Comment => {}
            Part::CheckLow if byte != sum as u8 => return Err(Damaged),
            // The sum of what was before both bytes: its second byte is kept.
            Part::CheckLow => self.part = Part::CheckHigh((sum >> 8) as u8),
            Part::CheckHigh(expected) if byte != expected => return Err(Damaged),
            Part::CheckHigh(_) => return Ok(true),
        }
        Ok(false)
    }

    /// Goes to the next part that the flags announce, behind the one of this flag; whether there is none.
    fn after(&mut self, flag: u8) -> bool {
        let parts = [(EXTRA, Part::ExtraLow), (NAME, Part::Name), (COMMENT, Part::Comment), (CHECK, Part::CheckLow)];
        // The order in the header is not that of the flags' values: the check comes last.
        let from = parts.iter().position(|(this, _)| *this == flag).map_or(0, |at| at + 1);
        match parts.into_iter().skip(from).find(|(flag, _)| self.flags & flag != 0) {
            Some((_, part)) => {
                self.part = part;
                false
            }
            None => true,
        }
    }
}

const CHECK: u8 = 2;
const EXTRA: u8 = 4;
const NAME: u8 = 8;
const COMMENT: u8 = 16;
const RESERVED: u8 = 0xE0;

/// No name, no time, made on Unix.
const GZIP_HEADER: [u8; 10] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3];
