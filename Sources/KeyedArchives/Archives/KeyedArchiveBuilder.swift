import Foundation

/// Builds a keyed archive, object by object. An object that others refer to before it is complete needs a reserved
/// number, so that cycles can be written.
package struct KeyedArchiveBuilder {
    private var objects: [PropertyList] = [.string("$null")]
    private var classes: [[String]: PropertyList] = [:]
    private var scalars: [UniqueScalar: PropertyList] = [:]

    package init() {}

    /// The reference for null.
    package static let null = PropertyList.uid(0)

    var objectCount: Int { objects.count }

    mutating func appendRaw(_ object: PropertyList) { objects.append(object) }

    /// A number for an object that is filled in later.
    package mutating func reserve() -> PropertyList {
        objects.append(.string("$null"))
        return .uid(UInt32(objects.count - 1))
    }

    /// Fills in an object.
    ///
    /// - Parameters:
    ///   - reference: the reference from `reserve`.
    ///   - classNames: the class, then its superclasses.
    ///   - fields: numbers and data directly, everything else as references.
    package mutating func fill(_ reference: PropertyList, classNames: [String], fields: [String: PropertyList]) {
        guard case .uid(let number) = reference, objects.indices.contains(Int(number)) else { return }
        var fields = fields
        fields["$class"] = classReference(classNames)
        objects[Int(number)] = .dictionary(fields)
    }

    /// Adds an object.
    package mutating func add(classNames: [String], fields: [String: PropertyList]) -> PropertyList {
        let reference = reserve()
        fill(reference, classNames: classNames, fields: fields)
        return reference
    }

    /// Adds a string, number or data once, however often it is used; the null reference for nil.
    package mutating func scalar(_ value: PropertyList?) -> PropertyList {
        guard let value, let key = UniqueScalar(value) else { return Self.null }
        if let reference = scalars[key] { return reference }
        objects.append(value)
        let reference = PropertyList.uid(UInt32(objects.count - 1))
        scalars[key] = reference
        return reference
    }

    package mutating func string(_ value: String?) -> PropertyList { scalar(value.map(PropertyList.string)) }

    package mutating func array(_ references: [PropertyList], isMutable: Bool = false) -> PropertyList {
        add(
            classNames: (isMutable ? ["NSMutableArray"] : []) + ["NSArray", "NSObject"],
            fields: ["NS.objects": .array(references)])
    }

    package mutating func set(_ references: [PropertyList], isMutable: Bool = false) -> PropertyList {
        add(
            classNames: (isMutable ? ["NSMutableSet"] : []) + ["NSSet", "NSObject"],
            fields: ["NS.objects": .array(references)])
    }

    package mutating func dictionary(
        _ pairs: [(key: PropertyList, value: PropertyList)], isMutable: Bool = false
    ) -> PropertyList {
        add(
            classNames: (isMutable ? ["NSMutableDictionary"] : []) + ["NSDictionary", "NSObject"],
            fields: ["NS.keys": .array(pairs.map(\.key)), "NS.objects": .array(pairs.map(\.value))])
    }

    /// The archive with one object under `$top`.
    package func archive(root: PropertyList, key: String = "root") -> KeyedArchive {
        KeyedArchive(objects: objects, top: [key: root])
    }

    private mutating func classReference(_ names: [String]) -> PropertyList {
        if let reference = classes[names] { return reference }
        objects.append(
            .dictionary([
                "$classname": .string(names.first ?? "NSObject"), "$classes": .array(names.map(PropertyList.string)),
            ]))
        let reference = PropertyList.uid(UInt32(objects.count - 1))
        classes[names] = reference
        return reference
    }
}
