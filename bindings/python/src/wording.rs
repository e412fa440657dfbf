//! Messages of the programs in the terms of Python: `num_perm` instead of `--num-perm <NUM_PERM>`.

/// A message about options of a command line, as one about arguments of Python.
pub(crate) fn of_arguments(message: &str) -> String {
    let mut parts = message.split("--");
    let mut worded = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) =
            part.split_at(part.find(|c: char| !c.is_ascii_lowercase() && c != '-').unwrap_or(part.len()));
        if name.is_empty() || worded.ends_with(char::is_alphanumeric) {
            // Dashes of a value or a path.
            worded.push_str("--");
            worded.push_str(part);
            continue;
        }
        worded.push_str(&name.replace('-', "_"));
        // What stands for its value.
        let value = rest.strip_prefix([' ', '=']).filter(|value| value.starts_with('<'));
        worded.push_str(value.and_then(|value| value.split_once('>')).map_or(rest, |(_, rest)| rest));
    }
    worded
}

/// The same for an error of the parser of a command line, without what it says of the use of a program.
pub(crate) fn of_parser(text: &str) -> String {
    let is_of_programs = |line: &&str| line.starts_with("Usage:") || line.starts_with("For more information");
    let lines = text.lines().take_while(|line| !is_of_programs(line)).map(str::trim);
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty() && !line.starts_with("tip: to pass")).collect();
    of_arguments(lines.join(" ").trim_start_matches("error: "))
}
