import StoreSession

/// A plan whose models and mappings have all been found and fit together.
struct CheckedPlan {
    /// A step, with everything that it needs.
    struct Step {
        let source: NSManagedObjectModel
        let destination: NSManagedObjectModel
        let mapping: NSMappingModel
        /// The changes by the names of entity mappings; empty for a step without code.
        let changes: [String: RecordChange]
        /// Whether the mappings must be applied object by object.
        let isByObject: Bool
    }

    let plan: MigrationPlan
    let models: [NSManagedObjectModel]
    let steps: [Step]

    /// Checks a plan. No store is touched.
    ///
    /// - Throws: ``PersistenceError``
    init(_ plan: MigrationPlan, endingAt model: NSManagedObjectModel, of manager: String) throws {
        var names: Set<String> = []
        for version in plan.versions where !names.insert(version.name).inserted {
            throw PersistenceError.repeatedVersion(version.name)
        }
        let models = try plan.versions.map { version in
            do { return try version.model() } catch {
                throw PersistenceError.unavailableVersion(version.name, reason: error.localizedDescription)
            }
        }
        guard let last = models.last, last.entityVersionHashesByName == model.entityVersionHashesByName else {
            throw PersistenceError.notTheManagersModel(last: plan.versions.last?.name ?? "", manager: manager)
        }
        try self.init(plan, over: models)
    }

    /// The steps between models of the versions.
    ///
    /// - Parameters:
    ///   - plan: the steps, by versions.
    ///   - models: the versions' models, in order.
    ///   - carried: entities that the versions do not name, which are migrated along, also by mapping models.
    /// - Throws: ``PersistenceError`` for a step that does not lead from one version to the next.
    init(_ plan: MigrationPlan, over models: [NSManagedObjectModel], carrying carried: Set<String> = []) throws {
        self.plan = plan
        self.models = models
        steps = try plan.steps.indices.map { index in
            let ends = StepEnds(
                from: plan.versions[index].name, to: plan.versions[index + 1].name, source: models[index],
                destination: models[index + 1])
            switch plan.steps[index] {
            case .inferred: return try ends.step(try ends.inferred())
            case .mapped(let mapping):
                return try ends.step(ends.carrying(carried, in: ends.checked(try mapping())))
            case .changing(let changes): return try ends.step(changing: changes)
            }
        }
    }

}

/// Two versions, one after the other.
private struct StepEnds {
    let from: String
    let to: String
    let source: NSManagedObjectModel
    let destination: NSManagedObjectModel

    func step(
        _ mapping: NSMappingModel, changes: [String: RecordChange] = [:], isByObject: Bool = false
    ) throws -> CheckedPlan.Step {
        CheckedPlan.Step(
            source: source, destination: destination, mapping: mapping, changes: changes, isByObject: isByObject)
    }

    func inferred(_ destination: NSManagedObjectModel? = nil) throws -> NSMappingModel {
        do {
            return try NSMappingModel.inferredMappingModel(
                forSourceModel: source, destinationModel: destination ?? self.destination)
        } catch {
            let info = (error as NSError).userInfo
            let (entity, property) = (info["entity"] as? String ?? "", info["property"] as? String)
            throw PersistenceError.notInferable(
                from: from, to: to, entity: entity, property: property,
                reason: info["reason"] as? String ?? error.localizedDescription,
                isAttribute: self.destination.attribute(at: property, of: entity) != nil)
        }
    }

    /// A mapping model, checked to name entities that exist.
    func checked(_ mapping: NSMappingModel) throws -> NSMappingModel {
        for entity in mapping.entityMappings ?? [] {
            try check(entity.sourceEntityName, in: source, from)
            try check(entity.destinationEntityName, in: destination, to)
        }
        return mapping
    }

    /// A mapping model with inferred mappings for entities that the versions do not name. The given one may be that of
    /// other stores, too, and stays as it is.
    func carrying(_ entities: Set<String>, in mapping: NSMappingModel) throws -> NSMappingModel {
        guard !entities.isEmpty else { return mapping }
        let mapped = Set((mapping.entityMappings ?? []).compactMap(\.sourceEntityName))
        let carried = try inferred().entityMappings.filter {
            $0.sourceEntityName.map { entities.contains($0) && !mapped.contains($0) } ?? false
        }
        guard !carried.isEmpty else { return mapping }
        let all = NSMappingModel()
        all.entityMappings = mapping.entityMappings + carried
        return all
    }

    private func check(_ entity: String?, in model: NSManagedObjectModel, _ version: String) throws {
        let known = model.entitiesByName
        guard let entity, known[entity] == nil else { return }
        throw PersistenceError.unknownEntity(entity, version: version, known: known.keys.sorted())
    }

    func step(changing changes: [RecordChange]) throws -> CheckedPlan.Step {
        var names: Set<String> = []
        for change in changes {
            try check(change.source, in: source, from)
            guard names.insert(change.source).inserted else {
                throw PersistenceError.repeatedChange(entity: change.source, from: from, to: to)
            }
        }
        let mapping = try inferredAsFarAsPossible(changes)
        var byMapping: [String: RecordChange] = [:]
        var changed: [NSEntityMapping] = []
        for change in changes {
            let entity = mapping.entityMappings.first {
                $0.sourceEntityName == change.source && $0.destinationEntityName != nil
            }
            guard let entity, let name = entity.name else {
                throw PersistenceError.unknownEntity(
                    change.source, version: to, known: destination.entitiesByName.keys.sorted())
            }
            entity.entityMigrationPolicyClassName = NSStringFromClass(ChangePolicy.self)
            byMapping[name] = change
            changed.append(entity)
        }
        // What the closures connect comes after what is inferred for the models at the other end, and the closures run
        // in the order in which they are given, since one may refer to what another one makes.
        mapping.entityMappings = mapping.entityMappings.filter { byMapping[$0.name ?? ""] == nil } + changed
        return try step(mapping, changes: byMapping, isByObject: true)
    }

    /// The mapping that can be inferred. Attributes that cannot be inferred, or have such elements, are left out if
    /// changes take care of all entities that have them.
    private func inferredAsFarAsPossible(_ changes: [RecordChange]) throws -> NSMappingModel {
        let pruned = destination.copy() as? NSManagedObjectModel ?? destination
        let (formerNames, changed) = (self.formerNames, Set(changes.map(\.source)))
        while true {
            do {
                return try inferred(pruned)
            } catch let error as PersistenceError where error.code == .notInferable {
                guard let attribute = pruned.attribute(at: error.property, of: error.entity ?? "") else { throw error }
                // An inherited attribute is left out where it is declared.
                let owners = attribute.entity.withDescendants
                if let unchanged = owners.first(where: { !$0.isChanged(in: changed, formerNames) }) {
                    throw PersistenceError.notInferable(
                        from: from, to: to, entity: unchanged.name ?? "", property: error.property,
                        reason: error.reason ?? "", isAttribute: true)
                }
                for owner in owners {
                    owner.indexes = []
                    owner.uniquenessConstraints = []
                }
                attribute.entity.properties = attribute.entity.properties.filter { $0.name != attribute.name }
            }
        }
    }

    /// The names of the entities in the source, by their names in the destination.
    private var formerNames: [String: String] {
        ModelCorrespondence(from: source, to: destination).entities
    }
}

extension NSManagedObjectModel {
    /// The attribute that a place is of, such as `address` for `address.zip`.
    fileprivate func attribute(at place: String?, of entity: String) -> NSAttributeDescription? {
        place?.split(separator: ".").first.flatMap { entitiesByName[entity]?.attributesByName[String($0)] }
    }
}

extension NSEntityDescription {
    fileprivate var withDescendants: [NSEntityDescription] { [self] + subentities.flatMap(\.withDescendants) }

    /// Whether none of the entity's objects is migrated without a change.
    fileprivate func isChanged(in changed: Set<String>, _ formerNames: [String: String]) -> Bool {
        isAbstract || (formerNames[name ?? ""].map(changed.contains) ?? true)
    }
}
