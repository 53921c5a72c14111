import Foundation

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// Reads what code generation needs from an `.xcdatamodeld` or `.xcdatamodel`.
package enum RecordModelReader {
    /// Reads the current version of a model.
    ///
    /// - Parameter path: an `.xcdatamodeld`, whose `.xccurrentversion` names the version, or an `.xcdatamodel`.
    /// - Throws: `GenerationFailure`, naming file and line.
    package static func model(at path: String) throws -> RecordModel {
        let contents = try currentVersion(at: path) + "/contents"
        guard let data = FileManager.default.contents(atPath: contents) else {
            throw GenerationFailure(file: contents, "the model version has no readable “contents”")
        }
        return try model(contents: data, path: contents)
    }

    /// Reads the XML of a model version.
    package static func model(contents: Data, path: String) throws -> RecordModel {
        let builder = Builder()
        let parser = XMLParser(data: contents)
        parser.delegate = builder
        // On Linux the parser goes on after an error and says that all is well: the delegate hears of it.
        let isWellFormed = parser.parse()
        if let problem = builder.problem {
            throw GenerationFailure([Problem(file: path, line: problem.line, column: 1, message: problem.message)])
        }
        guard isWellFormed, builder.sawModel else {
            let reason = isWellFormed ? "expected a <model> element" : "the XML is malformed"
            throw GenerationFailure([Problem(file: path, line: parser.lineNumber, column: 1, message: reason)])
        }
        return RecordModel(entities: builder.entities)
    }

    /// The folder of the version that the tools compile.
    private static func currentVersion(at path: String) throws -> String {
        guard path.hasSuffix(".xcdatamodeld") else { return path }
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [])
            .filter { $0.hasSuffix(".xcdatamodel") }.sorted()
        if let data = FileManager.default.contents(atPath: path + "/.xccurrentversion"),
            let list = try? PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any],
            let name = list["_XCCurrentVersionName"] as? String
        {
            guard names.contains(name) else {
                throw GenerationFailure(
                    file: path + "/.xccurrentversion",
                    "the current version “\(name)” is not there; there are: \(names.joined(separator: ", "))")
            }
            return path + "/" + name
        }
        guard let name = names.first else {
            throw GenerationFailure(file: path, "the model has no version: expected an .xcdatamodel in it")
        }
        return path + "/" + name
    }

    private final class Builder: NSObject, XMLParserDelegate {
        var entities: [RecordEntity] = []
        var sawModel = false
        private(set) var problem: (line: Int, message: String)?
        /// How many elements deep inside a composite attribute, whose parts are no properties of the entity.
        private var compositeDepth = 0

        func parser(
            _ parser: XMLParser, didStartElement element: String, namespaceURI: String?, qualifiedName: String?,
            attributes: [String: String]
        ) {
            if compositeDepth > 0 { compositeDepth += 1 }
            guard compositeDepth == 0 else { return }
            switch element {
            case "model": sawModel = true
            case "entity": addEntity(attributes, parser)
            case "attribute":
                if attributes["attributeType"] == "Composite" { compositeDepth = 1 }
                addProperty(attributes, parser) { entity, name in
                    guard let type = attributes["attributeType"] else { return "attribute “\(name)” has no type" }
                    entity.attributes.append(
                        RecordAttribute(
                            name: name, type: type, isScalar: attributes["usesScalarValueType"] == "YES",
                            customClass: attributes["customClassName"]))
                    return nil
                }
            case "relationship":
                addProperty(attributes, parser) { entity, name in
                    guard let destination = attributes["destinationEntity"] else {
                        return "relationship “\(name)” has no destination entity"
                    }
                    entity.relationships.append(
                        RecordRelationship(
                            name: name, destination: destination, isToMany: attributes["toMany"] == "YES",
                            isOrdered: attributes["ordered"] == "YES"))
                    return nil
                }
            case "fetchedProperty":
                addProperty(attributes, parser) { entity, name in
                    entity.fetchedProperties.append(RecordFetchedProperty(name: name))
                    return nil
                }
            case "fetchRequest":
                // The one inside a fetched property; those of the model come after all entities.
                guard let last = entities.indices.last, let property = entities[last].fetchedProperties.indices.last,
                    entities[last].fetchedProperties[property].destination == nil
                else { return }
                entities[last].fetchedProperties[property].destination = attributes["entity"]
            default: break
            }
        }

        func parser(
            _ parser: XMLParser, didEndElement element: String, namespaceURI: String?, qualifiedName: String?
        ) {
            if compositeDepth > 0 { compositeDepth -= 1 }
        }

        func parser(_ parser: XMLParser, parseErrorOccurred error: any Error) {
            problem = problem ?? (parser.lineNumber, "the XML is malformed")
        }

        private func addEntity(_ attributes: [String: String], _ parser: XMLParser) {
            guard let name = attributes["name"], !name.isEmpty else {
                fail("an entity has no name", parser)
                return
            }
            let generation: RecordEntity.CodeGeneration
            switch attributes["codeGenerationType"] {
            case "class": generation = .class
            case "category": generation = .category
            case nil, "none", "": generation = .none
            case let other?:
                fail("entity “\(name)”: unknown code generation “\(other)”; expected class, category or none", parser)
                return
            }
            // “.Person” is Person in the current product module.
            let className = attributes["representedClassName"]?.split(separator: ".").last.map(String.init)
            entities.append(
                RecordEntity(
                    name: name, className: className ?? "NSManagedObject", parent: attributes["parentEntity"],
                    codeGeneration: generation))
        }

        private func addProperty(
            _ attributes: [String: String], _ parser: XMLParser, _ add: (inout RecordEntity, String) -> String?
        ) {
            guard let last = entities.indices.last, let name = attributes["name"], !name.isEmpty else {
                fail("a property has no name, or stands outside of an entity", parser)
                return
            }
            if let message = add(&entities[last], name) { fail("entity “\(entities[last].name)”: \(message)", parser) }
        }

        private func fail(_ message: String, _ parser: XMLParser) {
            problem = problem ?? (parser.lineNumber, message)
            parser.abortParsing()
        }
    }
}
