import CodeGeneration
import CoreData
import RecordGeneration
import StoreReading

/// `pippin model validate`: each version's first error, or what shows when it is used, and its warnings.
enum Validating {
    static func run(
        _ options: ModelInvocation.ValidateOptions, _ output: (String) throws -> Void
    ) throws -> Int32 {
        let url = URL(fileURLWithPath: options.model)
        let isModel = ModelSource.isModel(url)
        var versions: [String?] = [options.version]
        if options.version == nil, isModel {
            let package = try ModelPackage(at: url)
            versions = package.versions.map(\.name)
            // Where the current version is not known, that is an error of its own.
            if !package.versions.contains(where: { package.isCurrent($0.name) }) { versions.append(nil) }
        }
        var isWrong = false
        for version in versions {
            do {
                let source = try ModelSource(ModelInvocation.Choice(path: options.model, version: version))
                let trial = try ModelTrial(source.model())
                let (nameErrors, obstacles) = names(in: source)
                let errors = try trial.errors() + nameErrors
                let warnings =
                    source.remarks + ModelWarnings.warnings(of: source.document) + trial.warnings + obstacles
                let counts = [
                    errors.isEmpty ? nil : TextTools.count(errors.count, "error"),
                    warnings.isEmpty ? nil : TextTools.count(warnings.count, "warning"),
                ].compactMap { $0 }
                let count = counts.isEmpty ? "no problems" : counts.joined(separator: ", ")
                let entities = TextTools.count(source.document.entities.count, "entity", "entities")
                try output("\(TextTools.visible(source.title)): \(entities), \(count).\n")
                for error in errors { try output("  error: \(TextTools.visible(error))\n") }
                for warning in warnings { try output("  warning: \(TextTools.visible(warning))\n") }
                if !errors.isEmpty { isWrong = true }
                if options.isStrict, !warnings.isEmpty { isWrong = true }
            } catch let error as NSError where error.domain == NSCocoaErrorDomain && isModel {
                isWrong = true
                let title = url.lastPathComponent + (version.map { ", version “\($0)”" } ?? "")
                try output("\(TextTools.visible(title)): wrong.\n")
                // Lines that mark a place in a format string are indented; what follows a line feed in a name is not.
                let lines = error.localizedDescription.components(separatedBy: "\n    ").map(TextTools.visible)
                try output("  error: \(lines.joined(separator: "\n      "))\n")
            }
        }
        return isWrong ? PippinCommand.failure : PippinCommand.success
    }

    /// The names that are not valid in Swift: errors if the model asks for classes, otherwise obstacles to generating
    /// them.
    private static func names(in source: ModelSource) -> (errors: [String], obstacles: [String]) {
        let records = RecordModel(source.document, moduleName: "")
        let errors = records.problems(knowsModule: false)
        let others = Set(records.problems(all: true, knowsModule: false)).subtracting(errors)
        return (
            errors.map { (source.line(of: $0).map { "line \($0), " } ?? "") + "\($0), so no class can be generated" },
            others.map { "\($0.description)" }.sorted()
        )
    }
}
