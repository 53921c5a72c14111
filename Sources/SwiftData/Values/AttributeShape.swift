import CoreData

/// How the values of a type are kept in an attribute, or in an element of a composite one.
indirect enum AttributeShape {
    /// A column of a type that stores know.
    case primitive(any StoredPrimitive.Type)
    /// A column for each element: a struct, or an enumeration.
    case composite(CompositeShape)
    /// A keyed archive of bytes that are JSON: a collection as a property.
    case archive
    /// Bytes of JSON.
    case json
    /// What a transformer makes of the value; nil for a keyed archive.
    case transformable(name: String?)

    /// - Parameters:
    ///   - type: a type without its optionality.
    ///   - name: the property's name, which the element of an enumeration with raw values has.
    ///   - outer: the types that lead here, so that one that contains itself ends in JSON.
    init(of type: Any.Type, name: String, within outer: [ObjectIdentifier] = []) {
        if let primitive = type as? any StoredPrimitive.Type {
            self = .primitive(primitive)
        } else if outer.isEmpty, type is any Collection.Type {
            self = .archive
        } else if !outer.contains(ObjectIdentifier(type)), !(type is any Collection.Type),
            let composite = CompositeShape(of: type, name: name, within: outer + [ObjectIdentifier(type)])
        {
            self = .composite(composite)
        } else {
            self = .json
        }
    }
}

/// The elements of a composite attribute.
struct CompositeShape {
    enum Kind {
        /// A struct: an element for each stored property.
        case structure
        /// An enumeration with raw values: one element, named like the property.
        case rawValue
        /// An enumeration without raw values: an element for each case, of which the one that holds has a value.
        case cases
    }

    struct Element {
        let name: String
        let isOptional: Bool
        let content: Content
    }

    enum Content {
        case value(AttributeShape)
        /// The name of a case without associated values, as its own value.
        case caseName
    }

    let kind: Kind
    let elements: [Element]
    /// The first raw value of an enumeration whose cases have no associated values.
    private let firstRawValue: Any?

    /// Elements of which a value can be made, to show where there is none.
    var sample: [String: Any] {
        if kind == .rawValue { return firstRawValue.map { [elements[0].name: $0] } ?? [:] }
        if kind == .cases {
            guard let element = elements.first(where: \.isCaseName) ?? elements.first else { return [:] }
            return [element.name: element.sample]
        }
        let needed = elements.filter { !$0.isOptional }.map { ($0.name, $0.sample) }
        return Dictionary(needed, uniquingKeysWith: { first, _ in first })
    }

    func element(named name: String) -> Element? { elements.first { $0.name == name } }

    /// - Returns: nil for a type without elements, and for one whose elements are unknown.
    init?(of type: Any.Type, name: String, within outer: [ObjectIdentifier]) {
        guard let fields = TypeFields(of: type) else { return nil }
        if fields.kind == .enumeration, let raw = type as? any RawRepresentable.Type {
            guard let primitive = Self.rawType(raw) else { return nil }
            kind = .rawValue
            firstRawValue = Self.firstRawValue(raw)
            elements = [Element(name: name, isOptional: true, content: .value(.primitive(primitive)))]
            return
        }
        guard !fields.fields.isEmpty else { return nil }
        kind = fields.kind == .structure ? .structure : .cases
        firstRawValue = nil
        var elements: [Element] = []
        for field in fields.fields {
            guard let type = field.type else {
                guard fields.kind == .enumeration else { return nil }
                elements.append(Element(name: field.name, isOptional: true, content: .caseName))
                continue
            }
            if fields.kind == .enumeration {
                let payload = CompositeShape(ofAssociatedValues: type, within: outer)
                elements.append(Element(name: field.name, isOptional: true, content: .value(.composite(payload))))
                continue
            }
            let wrapped = optionalContent(of: type)
            elements.append(
                Element(
                    name: field.name, isOptional: wrapped != nil,
                    content: .value(AttributeShape(of: wrapped ?? type, name: field.name, within: outer))))
        }
        self.elements = elements
    }

    /// The associated values of a case: `_0` and so on, or their labels.
    private init(ofAssociatedValues type: Any.Type, within outer: [ObjectIdentifier]) {
        kind = .structure
        firstRawValue = nil
        let fields = TypeFields.tuple(type) ?? [TypeFields.Field(name: "", type: type)]
        elements = fields.enumerated().map { index, field in
            let name = field.name.isEmpty ? "_\(index)" : field.name
            let type = field.type ?? Any.self
            let wrapped = optionalContent(of: type)
            return Element(
                name: name, isOptional: true,
                content: .value(AttributeShape(of: wrapped ?? type, name: name, within: outer)))
        }
    }

    private static func firstRawValue<Raw: RawRepresentable>(_ type: Raw.Type) -> Any? {
        (TypeFields.cases(of: type)?.first?.value.rawValue as? any StoredPrimitive)?.object
    }

    private static func rawType<Raw: RawRepresentable>(_ type: Raw.Type) -> (any StoredPrimitive.Type)? {
        Raw.RawValue.self as? any StoredPrimitive.Type
    }
}

extension CompositeShape.Element {
    fileprivate var isCaseName: Bool { if case .caseName = content { true } else { false } }

    /// Some value, in key-value coding.
    fileprivate var sample: Any {
        switch content {
        case .caseName: name
        case .value(.primitive(let type)): type.absent.object
        case .value(.composite(let shape)): shape.sample
        case .value: Data("[]".utf8)
        }
    }
}

/// `Optional` of any type.
protocol AnyOptionalType {
    static var wrappedType: Any.Type { get }
}

extension Optional: AnyOptionalType {
    static var wrappedType: Any.Type { Wrapped.self }
}

/// The type in an optional one; nil for any other.
func optionalContent(of type: Any.Type) -> Any.Type? { (type as? any AnyOptionalType.Type)?.wrappedType }
