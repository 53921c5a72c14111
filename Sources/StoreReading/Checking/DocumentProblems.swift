import CoreData
import ModelFiles

/// What is wrong with the objects of an XML or binary store's file: it is all there is to be checked. Pure.
struct DocumentProblems {
    private(set) var found: [StoreCheck.Problem] = []
    /// The entities by their names in small letters: XML files have other letters.
    private let entities: [String: EntityLayout]

    /// - Parameters:
    ///   - contents: the content of the file.
    ///   - layout: the model that it is read with; nil if it cannot be read.
    ///   - isDerived: whether that model was made for the file, so that only the file says what types values are of.
    init(of contents: StoreDocument, _ layout: ModelLayout?, isDerived: Bool) {
        entities = Dictionary(
            (layout?.entities ?? []).map { ($0.name.lowercased(), $0) }, uniquingKeysWith: { first, _ in first })
        for defect in contents.defects { add(.file, defect) }
        let counts = Dictionary(contents.objects.map { ($0.key, 1) }, uniquingKeysWith: +)
        let shared = counts.filter { $0.value > 1 }.keys.sorted()
        if !shared.isEmpty {
            let names = shared.prefix(TextTools.mostNamed).map(String.init).joined(separator: ", ")
            add(.unique, "objects have the number of another one: \(names)\(rest(shared.count))")
        }
        var places = Places()
        let requiredByEntity = isDerived ? [:] : entities.mapValues(Self.required)
        let typesByEntity = isDerived || layout == nil ? nil : entities.mapValues(Self.types)
        for object in contents.objects {
            let types = typesByEntity.map { $0[object.entityName.lowercased()] ?? [:] }
            let declared = contents.declarations.entities[object.entityName]?.attributes ?? [:]
            var known: Set<String> = []
            for (name, value) in object.attributes {
                if !known.insert(name).inserted { places.note(object, name, .repeated) }
                let type = types.map { $0[name.lowercased()] } ?? declared[name]
                if let type, type != .undefinedAttributeType, !DocumentStore.reads(value, as: type) {
                    places.note(object, name, .foreign(type))
                }
            }
            known.removeAll(keepingCapacity: true)
            for (name, keys) in object.relationships {
                if !known.insert(name).inserted { places.note(object, name, .repeated) }
                if keys.contains(where: { counts[$0] == nil }) { places.note(object, name, .dangling) }
            }
            guard let required = requiredByEntity[object.entityName.lowercased()], !required.isEmpty else { continue }
            var present = Set(object.attributes.map { Self.property($0.name) })
            for (name, keys) in object.relationships where !keys.isEmpty { present.insert(name.lowercased()) }
            for name in required where !present.contains(name.lowercased()) { places.note(object, name, .missing) }
        }
        for place in places.all { add(place) }
    }

    /// The types of an entity's attributes, by their names in small letters; of composite ones, those of the elements.
    private static func types(of entity: EntityLayout) -> [String: NSAttributeType] {
        var types: [String: NSAttributeType] = [:]
        func add(_ attribute: AttributeLayout, _ path: String) {
            guard attribute.type == .compositeAttributeType else {
                types[path.lowercased()] = attribute.type
                return
            }
            for element in attribute.elements { add(element, "\(path).\(element.name)") }
        }
        for slot in entity.slots where !slot.isTransient {
            if let attribute = slot.attribute { add(attribute, slot.name) }
        }
        return types
    }

    /// The properties that have to have a value.
    private static func required(of entity: EntityLayout) -> [String] {
        entity.slots.filter { !$0.isOptional && !$0.isTransient && $0.attribute?.derivation == nil }.map(\.name)
    }

    /// The property that a value belongs to, in small letters: an element is the composite attribute's.
    private static func property(_ name: String) -> String {
        String(name.prefix { $0 != "." }).lowercased()
    }

    private mutating func add(_ kind: StoreCheck.Problem.Kind, _ text: String) {
        found.append(StoreCheck.Problem(kind: kind, text: text))
    }

    private mutating func add(_ place: Place) {
        let entity = entities[place.entity.lowercased()]?.name ?? place.entity
        let name = "“\(entity).\(place.name)” of \(TextTools.count(place.count, "object"))"
        let keys = place.keys.map { "\(entity)/p\($0)" }.joined(separator: ", ") + rest(place.count)
        switch place.defect {
        case .repeated: add(.value, "\(name) is there more than once: \(keys)")
        case .foreign(let type): add(.value, "\(name) has no value of type \(TypeName.of(type)): \(keys)")
        case .missing: add(.value, "\(name) is missing, and required: \(keys)")
        case .dangling: add(.reference, "\(name) leads to objects that are gone: \(keys)")
        }
    }

    private func rest(_ count: Int) -> String { count > TextTools.mostNamed ? ", …" : "" }
}

private enum Defect: Hashable {
    case repeated, dangling, missing
    case foreign(NSAttributeType)
}

/// One defect of one property, and the objects that have it.
private struct Place {
    let entity: String
    let name: String
    let defect: Defect
    var count = 0
    /// The first few.
    var keys: [Int64] = []
}

private struct Places {
    private struct Key: Hashable {
        let entity: String
        let name: String
        let defect: Defect
    }

    private(set) var all: [Place] = []
    private var indices: [Key: Int] = [:]

    mutating func note(_ object: StoreDocument.Object, _ name: String, _ defect: Defect) {
        let key = Key(entity: object.entityName, name: name, defect: defect)
        let index = indices[key] ?? all.count
        if index == all.count {
            all.append(Place(entity: object.entityName, name: name, defect: defect))
            indices[key] = index
        }
        if all[index].keys.last == object.key { return }
        all[index].count += 1
        if all[index].keys.count < TextTools.mostNamed { all[index].keys.append(object.key) }
    }
}
