/// What a macro answers: source, and problems that the compiler shows.
package struct MacroExpansion: Equatable, Sendable {
    package var source: String
    /// Error messages; empty if there are none.
    package var problems: [String] = []

    package init(source: String = "", problems: [String] = []) {
        (self.source, self.problems) = (source, problems)
    }
}

/// The spelling of names that generated code refers to.
///
/// A program may have a type `SwiftData`, which `SwiftData.` would mean. Compilers before Swift 6.3 know no selector of
/// modules, and those before Swift 6.2 know no conformances that belong to no actor.
enum ModuleNames {
    #if compiler(>=6.3)
        static let (swift, swiftData, observation, pippin) = ("Swift::", "SwiftData::", "Observation::", "Pippin::")
    #else
        static let (swift, swiftData, observation, pippin) = ("Swift.", "SwiftData.", "Observation.", "Pippin.")
    #endif

    #if compiler(>=6.2)
        static let isolation = "nonisolated "
    #else
        static let isolation = ""
    #endif
}
