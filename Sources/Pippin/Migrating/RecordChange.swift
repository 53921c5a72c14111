package import CoreData

/// What a step of a ``MigrationPlan`` does with the objects of one entity.
public struct RecordChange: Sendable {
    /// The entity's name before the step.
    let source: String
    let change: @Sendable (Pair) throws -> Void

    package init(source: String, change: @escaping @Sendable (Pair) throws -> Void) {
        self.source = source
        self.change = change
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
    /// Both versions must be defined by structs (``ModelVersion/init(_:models:)``).
    ///
    /// - Parameters:
    ///   - old: the struct as it was.
    ///   - new: the struct as it is to be.
    ///   - convert: called for each model. The attributes of its result are used; relationships are inferred. If it
    ///     throws, the migration ends with that error.
    /// - Returns: the change, for ``MigrationPlan/changing(to:_:)``.
    public static func model<Old: CoreModel, New: CoreModel>(
        _ old: Old.Type, to new: New.Type, _ convert: @escaping @Sendable (Old) throws -> New
    ) -> RecordChange {
        let name = (try? EntityDerivation.plan(of: old))?.name ?? "\(old)"
        return RecordChange(source: name) { pair in
            let source = try pair.oldRegistry.plan(of: old)
            let destination = try pair.newRegistry.plan(of: new)
            guard let context = pair.old.managedObjectContext else { return }
            let rows = ObjectRows(context)
            let assembler = StructAssembler(registry: pair.oldRegistry, source: rows)
            guard let model = try assembler.models(Old.self, of: source, [try rows.row(pair.old, source)]).first else {
                return
            }
            let values = try RecordEncoder(destination.record).encode(try convert(model)).values
            pair.new.take(values, of: destination, pair.new.slots(of: destination), isNew: false)
        }
    }
}
