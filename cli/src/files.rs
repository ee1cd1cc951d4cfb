//! Files that an operator names: settings, tokens, certificates.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

/// Reads a file of at most 4 MiB: what never ends is not read until memory does.
///
/// # Errors
/// Those of opening and reading it, and that it is larger.
pub(crate) fn read_small(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MOST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is larger than 4 MiB"));
    }
    Ok(bytes)
}

const MOST: u64 = 4 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_ends_is_refused() {
        let error = read_small(Path::new("/dev/zero")).unwrap_err();
        assert_eq!(error.to_string(), "it is larger than 4 MiB");
        assert_eq!(read_small(Path::new("/dev/null")).unwrap(), b"");
    }
}
