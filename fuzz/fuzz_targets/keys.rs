#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fpstore_fuzz::keys(data));
