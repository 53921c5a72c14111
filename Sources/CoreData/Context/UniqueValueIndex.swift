/// Unsaved objects by their values that must be unique, scanned once for all violations of a save.
///
/// By value, since new objects have their temporary IDs back while a violation names those of the attempt.
struct UniqueValueIndex {
    private let objects: ContiguousArray<NSManagedObject>
    private var groups: [Constraint: [Values: [NSManagedObject]]] = [:]

    init(_ objects: ContiguousArray<NSManagedObject>) { self.objects = objects }

    /// The unsaved objects with the values of a violation, in the order of their changes.
    mutating func objects(of violation: ConstraintViolation) -> [NSManagedObject] {
        let constraint = Constraint(entity: ObjectIdentifier(violation.entity), names: violation.constraint)
        if groups[constraint] == nil { groups[constraint] = group(violation.entity, violation.constraint) }
        return groups[constraint]?[Values(violation.values)] ?? []
    }

    private func group(_ entity: EntityLayout, _ names: [String]) -> [Values: [NSManagedObject]] {
        let slots = names.compactMap { entity.slotIndex(forName: $0) }
        var group: [Values: [NSManagedObject]] = [:]
        for object in objects where !object.isDeleted && !object.isFault && object.layout.isKind(of: entity) {
            group[Values(slots.map { object.values[$0] }), default: []].append(object)
        }
        return group
    }

    private struct Constraint: Hashable {
        let entity: ObjectIdentifier
        let names: [String]
    }

    private struct Values: Hashable {
        let values: [StoredValue]

        init(_ values: [StoredValue]) { self.values = values }

        func hash(into hasher: inout Hasher) {
            for value in values {
                switch value {
                case .integer(let number): hasher.combine(number)
                case .double(let number), .date(let number): hasher.combine(number.isNaN ? 0 : number)
                case .string(let string): hasher.combine(string)
                case .data(let data): hasher.combine(data)
                case .uuid(let uuid): hasher.combine(uuid)
                case .identifier(let identifier): hasher.combine(identifier)
                // Hashing decimal numbers does not terminate on Linux.
                case .null, .object: hasher.combine(0)
                }
            }
        }
    }
}
