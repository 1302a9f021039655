//! The commands, one file each: its arguments, and `run`, which returns an outcome.

use clap::Subcommand;

use crate::cli::Global;
use crate::env::Env;
use crate::outcome::{Failure, Outcome};

/// What every command gets besides its own arguments.
#[derive(Debug)]
pub(crate) struct Context<'a> {
    /// Variables, home, store and working directory of this run.
    pub(crate) env: Env,
    /// The global options.
    pub(crate) global: &'a Global,
}

/// What `run` of a command returns.
pub(crate) type CommandResult = Result<Outcome, Failure>;

/// Lists the commands once: module, variant and type have to agree, and `name` is what is typed.
macro_rules! commands {
    ($($module:ident $variant:ident $name:literal;)*) => {
        $(pub(crate) mod $module;)*

        /// The command that was asked for.
        #[derive(Debug, Subcommand)]
        pub(crate) enum Command {
            $(
                #[command(name = $name)]
                $variant($module::$variant),
            )*
        }

        impl Command {
            /// The command as typed, which is also `kind` of its JSON object where the source has none.
            pub(crate) const fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $name,)*
                }
            }
        }

        /// Runs a command.
        pub(crate) fn run(command: &Command, context: &Context<'_>) -> CommandResult {
            match command {
                $(Command::$variant(arguments) => $module::run(arguments, context),)*
            }
        }
    };
}

commands! {
    install Install "install";
    list List "list";
    update Update "update";
    doctor Doctor "doctor";
    uninstall Uninstall "uninstall";
    inspect Inspect "inspect";
    verify Verify "verify";
    ls Ls "ls";
    cat Cat "cat";
    stat Stat "stat";
    extract Extract "extract";
    pack PackOf "pack";
    digest DigestOf "digest";
    knowledge KnowledgeOf "knowledge";
    prepack Prepack "prepack";
    mcp Mcp "mcp";
    hooks Hooks "hooks";
    init Init "init";
    validate Validate "validate";
    fetch Fetch "fetch";
    schema Schema "schema";
    explain Explain "explain";
    completions Completions "completions";
    manpages Manpages "manpages";
}
