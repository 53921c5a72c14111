import Foundation

/// Brings values of a composite attribute to another version of the attribute, element by element, as a migration in
/// SQL does: renamed elements keep their values, removed ones are dropped, and new ones get their default values.
final class CompositeConversion {
    private struct Element {
        let present: AttributeLayout
        let former: AttributeLayout?
        /// The conversion of an element that is a composite, too.
        let inner: CompositeConversion?
    }

    private let attribute: AttributeLayout
    private let elements: [Element]

    init(from former: AttributeLayout, to attribute: AttributeLayout) {
        self.attribute = attribute
        let names = attribute.elementSources(in: former)
        elements = attribute.elements.map { present in
            let source = former.elements.first { $0.name == names[present.name] }
            let isNested = present.type == .compositeAttributeType && source?.type == .compositeAttributeType
            return Element(
                present: present, former: source,
                inner: isNested ? source.map { CompositeConversion(from: $0, to: present) } : nil)
        }
    }

    /// The value of the present attribute; a value that it does not accept is refused when the object is saved.
    func converted(_ value: StoredValue) -> StoredValue {
        switch value {
        case .object(let object as CompositeValue):
            joined(converted(object.elements), kept(of: object))
        case .null where attribute.isAlwaysPresent: StoredValue(converted([:]), for: attribute)
        default: value
        }
    }

    /// The elements whose stored form is not what they show, such as bytes that cannot be read here.
    private func kept(of former: CompositeValue) -> [String: StoredValue] {
        var kept: [String: StoredValue] = [:]
        guard !former.kept.isEmpty else { return kept }
        for element in elements {
            guard let name = element.former?.name, let stored = former.kept[name],
                element.former?.type == element.present.type
            else { continue }
            kept[element.present.name] = element.inner?.converted(stored) ?? stored
        }
        return kept
    }

    /// The value of shown elements, and of those that stay as they are stored, which the attribute need not accept.
    private func joined(_ shown: [String: Any], _ kept: [String: StoredValue]) -> StoredValue {
        let others = StoredValue(shown.filter { kept[$0.key] == nil }, for: attribute)
        guard !kept.isEmpty, case .object(let object) = others, object is CompositeValue else { return others }
        return .object(CompositeValue(shown, keeping: kept))
    }

    private func converted(_ values: [String: Any]) -> [String: Any] {
        var result: [String: Any] = [:]
        for element in elements {
            let value = element.former.flatMap { StoredValue.unwrapped(values[$0.name]) }.flatMap {
                $0 is NSNull ? nil : $0
            }
            if let value {
                result[element.present.name] = converted(value, element)
            } else if let inner = element.inner, element.present.isAlwaysPresent {
                result[element.present.name] = inner.converted([:])
            } else if element.former.map(element.present.isNewlyMandatory(since:)) ?? true {
                result[element.present.name] = element.present.description.defaultValue
            }
        }
        return result
    }

    private func converted(_ value: Any, _ element: Element) -> Any? {
        if let inner = element.inner, let values = value as? [String: Any] { return inner.converted(values) }
        guard let former = element.former, let numbers = NumberConversion(from: former, to: element.present) else {
            return value
        }
        return numbers.converted(StoredValue(value, for: former)).objectValue(for: element.present)
    }
}

extension AttributeLayout {
    /// Whether the attribute must have a value, and its former version need not have one.
    fileprivate func isNewlyMandatory(since former: AttributeLayout) -> Bool {
        !description.isOptional && former.description.isOptional
    }
}
