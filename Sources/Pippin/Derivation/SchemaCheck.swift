/// Checks that a schema's rules are about properties that exist, and of a kind to which the rule applies.
enum SchemaCheck {
    /// - Throws: ``PersistenceError/Code/notDerivable``
    static func check(_ plan: EntityPlan) throws {
        guard !plan.name.isEmpty else { throw refusal(plan, "", "its schema gives it an empty name.") }
        for field in plan.fields { try check(name: field.name, in: plan) }
        if case .attribute = plan.fields[plan.uidField].kind {
        } else {
            throw refusal(
                plan, plan.uidKey, "an identifier must be a single value, such as a String, an Int or a UUID.")
        }
        guard !plan.fields[plan.uidField].isOptional else {
            throw refusal(plan, plan.uidKey, "an identifier cannot be optional.")
        }
        for fact in plan.facts { try check(fact, in: plan) }
        try checkFormerNames(in: plan)
    }

    /// A name is followed to one former name. If names only changed places, the model looks the same before and after,
    /// and no store shows whether that has happened already.
    private static func checkFormerNames(in plan: EntityPlan) throws {
        var former: [String: String] = [:]
        var formerEntity: String?
        for fact in plan.facts {
            switch fact {
            case .renamed(let property, let name):
                guard let path = property.path else { continue }
                if let other = former.updateValue(name, forKey: path), other != name {
                    throw refusal(plan, path, severalNames(other, name))
                }
            case .entityRenamed(let name):
                if let other = formerEntity, other != name { throw refusal(plan, "", severalNames(other, name)) }
                formerEntity = name
            default: continue
            }
        }
        for (path, name) in former.sorted(by: { $0.key < $1.key }) where path != name {
            var (origin, steps) = (name, 0)
            while origin != path, let next = former[origin], steps < former.count {
                (origin, steps) = (next, steps + 1)
            }
            guard origin == path else { continue }
            throw refusal(
                plan, path,
                "its schema lets it change places with '\(name)', and no store shows whether that has happened. Give one "
                    + "of them a name that there was not.")
        }
    }

    private static func severalNames(_ one: String, _ other: String) -> String {
        "its schema gives it two former names, '\(one)' and '\(other)'. Keep the first that it had: stores of all versions "
            + "since know it by that."
    }

    /// A filter would silently misread a name that the predicate language takes for something else.
    private static func check(name: String, in plan: EntityPlan) throws {
        if name.isEmpty || name.contains(".") {
            throw refusal(
                plan, name,
                "a name must not be empty, and a period in it would make a path of it. Give it another coding key.")
        }
        if ["self", "SELF", "objectID"].contains(name) {
            throw refusal(
                plan, name, "Core Data's predicates mean the whole object by that name. Call the property otherwise.")
        }
    }

    private static func check(_ fact: SchemaFact, in plan: EntityPlan) throws {
        switch fact {
        case .index(let properties):
            for property in properties { try checkIndexed(try nestedField(property, in: plan), property, in: plan) }
        case .unique(let properties, _), .notUnique(let properties):
            for property in properties {
                let field = try nestedField(property, in: plan)
                guard plan.field(named: property.path ?? "") != nil else {
                    throw refusal(
                        plan, property.spelling,
                        "no store keeps the properties of a nested struct unique. Make it a property of the model itself."
                    )
                }
                try checkIndexed(field, property, in: plan)
            }
        case .owns(let property), .inverse(let property, _, _):
            guard try field(property, in: plan).related != nil else {
                throw refusal(
                    plan, property.spelling, "it has no other models, so it can neither own nor be led back to.")
            }
        case .defaultValue(let property, _):
            guard try nestedField(property, in: plan).related == nil else {
                throw refusal(
                    plan, property.spelling, "other models have no default value. Make it optional, or an array.")
            }
        case .derived(let property, _, _):
            guard try field(property, in: plan).related == nil else {
                throw refusal(
                    plan, property.spelling, "models and references are not derived. Set them by a MigrationPlan.")
            }
        case .stamp(let property, _):
            guard case .attribute(.date) = try field(property, in: plan).kind else {
                throw refusal(plan, property.spelling, "saves fill in dates only, and it is none as it is coded.")
            }
            guard plan.facts.count(where: { $0.stamps(property) }) == 1, property.path != plan.uidKey else {
                throw refusal(
                    plan, property.spelling, "it is the identifier, or two rules fill it in. Give each a property.")
            }
        case .renamed(let property, _), .userInfo(let property, _), .json(let property):
            _ = try nestedField(property, in: plan)
        case .searched(let property, _):
            let path = property.path?.split(separator: ".").map(String.init) ?? []
            // Texts of related models are checked when the model is made of all of them.
            if path.count > 1, plan.field(named: path[0])?.related != nil { return }
            _ = try nestedField(property, in: plan)
        case .narrowed(let property):
            let name = property.path?.split(separator: ".").first.map(String.init)
            guard let name, plan.field(named: name) != nil else {
                _ = try field(property, in: plan)
                return
            }
        case .removed(let name), .entityRemoved(let name), .entityRenamed(let name):
            guard !name.isEmpty else { throw refusal(plan, "", "its schema has a rule about an empty name.") }
        case .entityUserInfo, .attached: break
        }
    }

    private static func checkIndexed(_ field: FieldPlan, _ property: PropertyName, in plan: EntityPlan) throws {
        if case .composite = field.kind {
            throw refusal(plan, property.spelling, "an index has no nested structs as a whole. Name their properties.")
        }
        guard !field.isToMany else {
            throw refusal(plan, property.spelling, "an index has attributes and single models only.")
        }
    }

    private static func field(_ property: PropertyName, in plan: EntityPlan) throws -> FieldPlan {
        guard let path = property.path, let field = plan.field(named: path) else {
            throw unknown(property, in: plan, plan.propertyNames)
        }
        return field
    }

    /// A field of the model, or of a nested value in it.
    private static func nestedField(_ property: PropertyName, in plan: EntityPlan) throws -> FieldPlan {
        guard let path = property.path else { throw unknown(property, in: plan, plan.propertyNames) }
        var record = plan.record
        var found: FieldPlan?
        for name in path.split(separator: ".") {
            if let outer = found {
                guard case .composite(let inner) = outer.kind else { throw unknown(property, in: plan, []) }
                record = inner
            }
            found = record.fields.first { $0.property == name && $0.mark == nil }
            guard found != nil else { throw unknown(property, in: plan, record.propertyNames) }
        }
        guard let found else { throw unknown(property, in: plan, plan.propertyNames) }
        return found
    }

    private static func unknown(_ property: PropertyName, in plan: EntityPlan, _ known: [String]) -> PersistenceError {
        let stored = known.isEmpty ? "" : " Stored are: \(known.joined(separator: ", "))."
        return refusal(
            plan, property.spelling, "the schema names it, and it is not a property that is stored.\(stored)")
    }

    static func refusal(_ plan: EntityPlan, _ property: String, _ reason: String) -> PersistenceError {
        .notDerivable(type: plan.record.name, property: property, reason: reason)
    }
}
