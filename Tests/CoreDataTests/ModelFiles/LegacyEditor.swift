import Foundation

@testable import ModelFiles

/// Builds the objects of Xcode 3's model editor, whose facts are properties of stereotypes.
struct LegacyEditor {
    var builder = KeyedArchiveBuilder()

    mutating func named(_ objects: [(String, PropertyList)]) -> PropertyList {
        builder.dictionary(objects.map { (builder.string($0.0), $0.1) })
    }

    mutating func nameLists(_ lists: [[String]]) -> PropertyList {
        builder.array(lists.map { names in builder.array(names.map { builder.string($0) }) })
    }

    mutating func stereotypes(_ facts: [(String, PropertyList)]) -> PropertyList {
        let holders = facts.map { name, value in
            (
                name,
                builder.add(
                    classNames: ["XDUMLPropertyImp", "NSObject"],
                    fields: ["_name": builder.string(name), "_default": value])
            )
        }
        let attributes = named(holders)
        let stereotype = builder.add(
            classNames: ["XDUMLStereotypeImp", "NSObject"],
            fields: ["XDBucketForOwnedAttributesstorage": attributes])
        return named([("stereotype", stereotype)])
    }

    mutating func property(_ className: String, _ name: String, _ facts: [(String, PropertyList)]) -> PropertyList {
        let facts = stereotypes(facts)
        return builder.add(
            classNames: [className, "NSObject"],
            fields: ["_name": builder.string(name), "XDBucketForStereotypesstorage": facts])
    }

    mutating func fill(
        _ reference: PropertyList, entity name: String, _ facts: [(String, PropertyList)],
        _ properties: [(String, PropertyList)], parent: PropertyList? = nil
    ) {
        let generalizations = builder.array(
            parent.map {
                [builder.add(classNames: ["XDUMLGeneralizationImp", "NSObject"], fields: ["_general": $0])]
            } ?? [])
        let members = named(properties)
        let facts = stereotypes(facts)
        builder.fill(
            reference, classNames: ["XDPMEntity", "NSObject"],
            fields: [
                "_name": builder.string(name), "XDBucketForStereotypesstorage": facts,
                "XDBucketForOwnedAttributesstorage": members,
                "XDBucketForGeneralizationsstorage": generalizations,
            ])
    }

    mutating func elements(_ entities: [(String, PropertyList)], identifier: String?) throws -> Data {
        let classes = named(entities)
        let package = builder.add(
            classNames: ["XDModelPackage", "NSObject"], fields: ["XDBucketForClassesstorage": classes])
        let root = builder.add(
            classNames: ["XDPMModel", "NSObject"],
            fields: ["_xd_rootPackage": package, "_modelVersionIdentifier": builder.string(identifier)])
        return try builder.archive(root: root).data()
    }
}
