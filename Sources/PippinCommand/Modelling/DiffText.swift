import StoreReading

/// What `pippin model diff` prints.
enum DiffText {
    static func text(of diff: ModelDiff) -> String {
        var lines = ["\(diff.fromTitle) → \(diff.toTitle)", ""]
        for entity in diff.entities {
            lines.append(line(entity.change, "entity \(entity.name)", entity.phrases))
            lines += entity.properties.map { "    " + line($0.change, $0.name, $0.phrases) }
        }
        lines += diff.others.map { "~ \($0)" }
        if diff.entities.isEmpty, diff.others.isEmpty { lines.append("The models say the same.") }
        // Names come from files, and must neither reach the terminal as commands nor make lines of their own.
        return (lines + [""] + verdict(diff)).map(TextTools.visible).joined(separator: "\n") + "\n"
    }

    private static func line(_ change: ModelDiff.Change, _ subject: String, _ phrases: [String]) -> String {
        let mark = change == .added ? "+" : change == .removed ? "-" : "~"
        return "\(mark) \(subject)" + (phrases.isEmpty ? "" : ": " + phrases.joined(separator: ", "))
    }

    private static func verdict(_ diff: ModelDiff) -> [String] {
        if diff.needsMappingModel {
            return ["No mapping can be inferred. A mapping model has to say:"]
                + diff.demands.map { "  \($0.place): \($0.what)" }
                + diff.missingDefaults.map { "  \($0): a value for objects that have none" }
        }
        guard diff.needsMigration else { return ["Stores need no migration."] }
        var lines = ["Stores migrate by an inferred mapping, in place."]
        if !diff.missingDefaults.isEmpty {
            lines.append("Objects without a value stop it, since these are mandatory and have no default value:")
            lines += diff.missingDefaults.map { "  \($0)" }
        }
        return lines
    }
}
