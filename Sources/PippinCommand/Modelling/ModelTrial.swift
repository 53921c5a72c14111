import CoreData
import PredicateFormat
import StoreEngine
import StoreReading

/// What is wrong with a model that can be read, and shows only when it is used: when a store is made of it, an object
/// checked, or a fetch request run.
struct ModelTrial {
    private let model: NSManagedObjectModel
    private let layout: ModelLayout

    /// - Throws: an error of the model, which names the entity and the property.
    init(_ model: NSManagedObjectModel) throws {
        self.model = model
        layout = try model.compiledLayout()
    }

    /// The reason if no store can be made of the model, and the validation patterns that are not valid.
    ///
    /// - Throws: `CommandError` when there is no folder for a store.
    func errors() throws -> [String] {
        let folder = try TemporaryFolder()
        var errors = patternErrors
        do {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let store = try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil,
                at: folder.url.appendingPathComponent("trial.sqlite"), options: nil)
            try coordinator.remove(store)
        } catch { errors.append("no store can be made of it: \(error.localizedDescription)") }
        return errors
    }

    /// The attributes whose rules allow no value, or not their default value, and the fetch requests that always fail.
    var warnings: [String] { layout.entities.flatMap(BoundsTrial.warnings) + requestWarnings }

    private var requestWarnings: [String] {
        model.fetchRequestTemplatesByName.sorted { $0.key < $1.key }.flatMap { name, request -> [String] in
            guard let entity = request.entityName.flatMap({ layout.entityByName[$0] }) else { return [] }
            var reasons: [String] = []
            if let predicate = request.predicate, let tree = try? predicateTree(of: predicate) {
                do { try PredicateKeys.check(tree, of: entity) } catch { reasons.append(error.localizedDescription) }
                reasons += Self.wrongPatterns(in: tree)
            }
            return reasons.map { "fetch request “\(TextTools.inOneLine(name))”: \($0)" }
        }
    }

    private var patternErrors: [String] {
        layout.entities.flatMap { entity in
            entity.description.properties.filter { entity.superentity?.propertyByName[$0.name] == nil }
                .sorted { $0.name < $1.name }
                .flatMap { property in
                    property.validationPredicates.compactMap { try? predicateTree(of: $0) }
                        .flatMap(Self.wrongPatterns)
                        .map { "\(TextTools.inOneLine(entity.name)).\(TextTools.inOneLine(property.name)): \($0)" }
                }
        }
    }

    private static func wrongPatterns(in tree: PredicateTree) -> [String] {
        var wrong: [String] = []
        tree.forEachComparison { comparison in
            guard comparison.comparison == .matches, case .constant(.string(let pattern)) = comparison.right,
                MatchesPattern(pattern, options: comparison.options) == nil
            else { return }
            wrong.append("“\(TextTools.inOneLine(pattern))” is no regular expression")
        }
        return wrong
    }
}
