import Foundation

// The source objects of an entity mapping, in portions.
extension NSMigrationManager {
    func forEachPortion(
        ofSourcesIn mapping: NSEntityMapping, policy: NSEntityMigrationPolicy, _ run: MigrationRun,
        _ body: ([NSManagedObject]) throws -> Void
    ) throws {
        guard mapping.mappingType != .addEntityMappingType, mapping.mappingType != .removeEntityMappingType else {
            return
        }
        guard let expression = mapping.sourceExpression else {
            guard let name = mapping.sourceEntityName else { return }
            let request = try fetchRequest(entity: name, predicate: nil, includesSubentities: false)
            request.returnsObjectsAsFaults = false
            return try forEachPortion(of: request, run, body)
        }
        let expressions = MigrationExpression(scope: MigrationScope(manager: self, mapping: mapping, policy: policy))
        let tree = expressionTree(of: expression)
        if case .fetch(let request, let context, false) = tree,
            try expressions.value(of: context) as? NSManagedObjectContext === run.source,
            let request = try expressions.value(of: request) as? NSFetchRequest<NSManagedObject>
        {
            return try forEachPortion(of: request, run, body)
        }
        guard let objects = Self.objects(in: try expressions.value(of: tree)) else {
            throw MigrationExpression.error(
                "the source expression of the entity mapping “\(mapping.name ?? "")” gives no objects")
        }
        try body(objects)
    }

    private func forEachPortion(
        of request: NSFetchRequest<NSManagedObject>, _ run: MigrationRun, _ body: ([NSManagedObject]) throws -> Void
    ) throws {
        let context = run.source
        let entity = try context.entity(of: request)
        guard let coordinator = context.coordinator, let source = context.source,
            let engine = coordinator.persistentStores.first?.engine, engine.keys != nil, context.changed.isEmpty,
            request.resultType == .managedObjectResultType, request.affectedStores == nil,
            request.relationshipKeyPathsForPrefetching?.isEmpty ?? true
        else { return try body(try context.fetch(request)) }
        let plan = context.plan(for: request, entity)
        let portions = try coordinator.withLock { try engine.portions(plan) }
        var (done, count) = (0, 0)
        while true {
            let rows = try coordinator.withLock { try portions.next(MigrationPortions.reading) }
            if rows.isEmpty { return }
            // A single portion needs no progress.
            if done == 0, rows.count == MigrationPortions.reading {
                count = try coordinator.withLock { try engine.fetchCount(plan) }
            }
            let stamp = source.generation
            try body(rows.map { context.object(for: $0, asFault: false, refreshing: false, stamp: stamp) })
            run.portions.letGoOfSources()
            done += rows.count
            if count > 0 { noteProgress(run, Float(done) / Float(count)) }
        }
    }
}
