import CoreData

/// `pippin model validate`: each version's first error, and its warnings.
enum Validating {
    static func run(
        _ options: ModelInvocation.ValidateOptions, _ output: (String) throws -> Void
    ) throws -> Int32 {
        let url = URL(fileURLWithPath: options.model)
        let isModel = ModelSource.isModel(url)
        var versions: [String?] = [options.version]
        if options.version == nil, isModel { versions = try ModelPackage(at: url).versions.map(\.name) }
        var isWrong = false
        for version in versions {
            do {
                let source = try ModelSource(ModelInvocation.Choice(path: options.model, version: version))
                _ = try source.model().compiledLayout()
                let warnings = ModelWarnings.warnings(of: source.document)
                let count = warnings.isEmpty ? "no problems" : TextTools.count(warnings.count, "warning")
                let entities = TextTools.count(source.document.entities.count, "entity", "entities")
                try output("\(source.title): \(entities), \(count).\n")
                for warning in warnings { try output("  warning: \(warning)\n") }
                if options.isStrict, !warnings.isEmpty { isWrong = true }
            } catch let error as NSError where error.domain == NSCocoaErrorDomain && isModel {
                isWrong = true
                try output("\(url.lastPathComponent)\(version.map { ", version “\($0)”" } ?? ""): wrong.\n")
                try output("  error: \(error.localizedDescription)\n")
            }
        }
        return isWrong ? PippinCommand.failure : PippinCommand.success
    }
}
