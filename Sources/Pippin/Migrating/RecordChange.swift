package import CoreData

/// What a step of a ``MigrationPlan`` does with the objects of one entity.
public struct RecordChange: Sendable {
    /// The entity's name before the step.
    let source: String
    let change: @Sendable (Pair) throws -> Void
    /// Connects the new object once all objects are made; nil where that is inferred.
    let connect: (@Sendable (Pair, GivenModels) throws -> Void)?

    package init(source: String, change: @escaping @Sendable (Pair) throws -> Void) {
        self.source = source
        self.change = change
        connect = nil
    }

    init(
        source: String, change: @escaping @Sendable (Pair) throws -> Void,
        connect: @escaping @Sendable (Pair, GivenModels) throws -> Void
    ) {
        self.source = source
        self.change = change
        self.connect = connect
    }

    /// An object before and after a step.
    package struct Pair {
        package let old: NSManagedObject
        package let new: NSManagedObject
        /// The entities of the versions' structs.
        let oldRegistry: ModelRegistry
        let newRegistry: ModelRegistry
    }

    /// A change from the old struct to the new one.
    ///
    /// ```swift
    /// .model(V2.Person.self, to: Person.self) { Person(id: $0.id, fullName: "\($0.first) \($0.last)") }
    /// ```
    ///
    /// Both versions must be those of structs (``ModelVersion/init(_:models:)``). Models and references that the
    /// closure puts into the new struct are saved with it, as `save` does; where it leaves such a property `nil` or
    /// empty, the migration brings along what was there:
    ///
    /// ```swift
    /// .model(V3.Book.self, to: V4.Book.self) { V4.Book(id: $0.id, author: V4.Author(id: $0.author, name: $0.author)) }
    /// ```
    ///
    /// - Parameters:
    ///   - old: the struct as it was.
    ///   - new: the struct as it is to be.
    ///   - convert: called for each model; twice, where the new struct leads to other models: it should do nothing but
    ///     convert. What it throws ends the migration.
    /// - Returns: the change, for ``MigrationPlan/changing(to:_:)``.
    public static func model<Old: CoreModel, New: CoreModel>(
        _ old: Old.Type, to new: New.Type, _ convert: @escaping @Sendable (Old) throws -> New
    ) -> RecordChange {
        let name = (try? EntityDerivation.plan(of: old))?.name ?? "\(old)"
        return RecordChange(source: name) { pair in
            let destination = try pair.newRegistry.plan(of: new)
            guard let model = try pair.oldModel(old) else { return }
            let values = try RecordEncoder(destination.record).encode(try convert(model)).values
            try pair.new.take(values, of: destination, pair.new.slots(of: destination), isNew: false)
        } connect: { pair, given in
            guard try !pair.newRegistry.plan(of: new).relationships.isEmpty, let model = try pair.oldModel(old),
                let context = pair.new.managedObjectContext
            else { return }
            let graph = try ModelGraph([try convert(model)], registry: pair.newRegistry)
            guard graph.nodes.count > 1 else { return }
            var writer = GraphWriter(graph, context, root: pair.new, among: given)
            try writer.write()
        }
    }
}

extension RecordChange.Pair {
    /// The old object as its struct.
    fileprivate func oldModel<Old: CoreModel>(_ type: Old.Type) throws -> Old? {
        guard let context = old.managedObjectContext else { return nil }
        let plan = try oldRegistry.plan(of: type)
        let rows = ObjectRows(context)
        return try StructAssembler(registry: oldRegistry, source: rows).models(
            Old.self, of: plan, [try rows.row(old, plan)]
        )
        .first
    }
}

/// The models that the closures of a step give along with theirs, in the store that is being made: each once.
final class GivenModels: KnownObjects {
    /// A migration of many objects lets go of those that are saved; an identifier leads to them again.
    private enum Place {
        case object(NSManagedObject)
        case identifier(NSManagedObjectID)
    }

    private let context: NSManagedObjectContext
    /// By entity and identifier.
    private var places: [String: [RecordKey: Place]] = [:]
    /// How many new objects there are before the saved ones are let go.
    private var limit = 2000

    init(_ context: NSManagedObjectContext) { self.context = context }

    func object(_ key: RecordKey, of plan: EntityPlan) throws -> NSManagedObject? {
        if places[plan.name] == nil { places[plan.name] = try stored(plan) }
        let object: NSManagedObject
        switch places[plan.name]?[key] {
        case .object(let known): object = known
        case .identifier(let identifier): object = try context.existingObject(with: identifier)
        case nil: return nil
        }
        // An owned model that another closure has dropped is given anew.
        return object.isDeleted || object.managedObjectContext == nil ? nil : object
    }

    func note(_ object: NSManagedObject, _ key: RecordKey, of plan: EntityPlan) {
        places[plan.name, default: [:]][key] = .object(object)
        limit -= 1
        guard limit == 0 else { return }
        limit = 2000
        places = places.mapValues { $0.mapValues(Self.settled) }
    }

    /// What the mappings of the step have made so far.
    private func stored(_ plan: EntityPlan) throws -> [RecordKey: Place] {
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: plan.name)
        request.returnsObjectsAsFaults = false
        var places: [RecordKey: Place] = [:]
        for case let object as NSManagedObject in try context.fetch(request) {
            guard let key = object.value(forKey: plan.uidKey) else { continue }
            places[RecordKey(attributeValue: key)] = Self.settled(.object(object))
        }
        return places
    }

    private static func settled(_ place: Place) -> Place {
        guard case .object(let object) = place, !object.objectID.isTemporaryID, !object.hasChanges else { return place }
        return .identifier(object.objectID)
    }
}
