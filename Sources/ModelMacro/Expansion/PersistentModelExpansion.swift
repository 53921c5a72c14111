/// The expansion of SwiftData's `@Model` for a class.
///
/// The names of generated members are those of Apple's expansion, since programs refer to them: `_$backingData`,
/// `_<property>`, `_SwiftDataNoType`, `_$observationRegistrar`.
package struct PersistentModelExpansion {
    private let declaration: ClassDeclaration
    /// The superclass, if it is a model.
    private let superclass: String?

    /// - Parameters:
    ///   - declaration: the class.
    ///   - conformances: the protocols that the class does not conform to yet. One whose superclass is a model lacks no
    ///     `PersistentModel`.
    package init(of declaration: ClassDeclaration, conformances: [String]) {
        self.declaration = declaration
        superclass = conformances.contains("PersistentModel") ? nil : declaration.inheritance.first
    }

    // MARK: Members

    /// The members that the macro adds.
    package var members: MacroExpansion {
        guard declaration.keyword == "class" else {
            return MacroExpansion(
                problems: ["@Model can only be applied to a class, not to this \(declaration.keyword)."])
        }
        let problems = self.problems
        guard problems.isEmpty else { return MacroExpansion(problems: problems) }
        return MacroExpansion(source: superclass.map(subclassMembers) ?? rootMembers)
    }

    private var problems: [String] {
        var problems: [String] = []
        if !declaration.hasInitializer {
            problems.append("@Model requires an initializer be provided for '\(declaration.name)'")
        }
        for variable in declaration.variables where !variable.isComputed && !variable.isOther {
            if variable.attribute("Transient") != nil, variable.value == nil, !variable.isOptionalType {
                problems.append(
                    "@Transient requires '\(variable.name)' to have an initial value, which it has after each fetch.")
            }
            guard variable.isPersisted else { continue }
            if variable.name == "description" {
                problems.append("A stored property cannot be named 'description'. Give it another name.")
            }
            if let type = variable.type, type.hasPrefix("("), type.hasSuffix(")"), type.contains(",") {
                problems.append(
                    "'\(variable.name)' is a tuple, which cannot be persisted. Make it a struct that is Codable, or mark "
                        + "it @Transient.")
            }
        }
        return problems
    }

    private var access: String {
        switch declaration.access {
        case "public", "open": "public "
        case "package": "package "
        default: ""
        }
    }

    /// Marks a class whose initializers may fail: their models are not shown before these have ended.
    private var mark: String {
        guard declaration.hasFailingInitializer else { return "" }
        return "\n\nprivate let _$initializersMayFail: \(ModuleNames.swift)Void = ()"
    }

    private var rootMembers: String {
        let (name, swift, data) = (declaration.name, ModuleNames.swift, ModuleNames.swiftData)
        let kind = declaration.isFinal ? "static" : "class"
        return """
            private var _$backingData: any \(data)BackingData<\(name)> = \(name).createBackingData()\(mark)

            \(access)var persistentBackingData: any \(data)BackingData<\(name)> {
                get { _$backingData }
                set { _$backingData = newValue }
            }

            \(access)\(kind) var schemaMetadata: [\(data)Schema.PropertyMetadata] {
                var metadata: [\(data)Schema.PropertyMetadata] = []
            \(metadata)
                return metadata
            }

            \(access)required init(backingData: any \(data)BackingData<\(name)>) {
            \(emptyPeers)
                self._$backingData = backingData
            }

            \(access)let _$observationRegistrar = \(ModuleNames.observation)ObservationRegistrar()

            \(access)struct _SwiftDataNoType {
                \(access)init() {}
            }

            \(access)func access<_M>(keyPath: \(swift)KeyPath<\(name), _M>) {
                _$observationRegistrar.access(self, keyPath: keyPath)
            }

            \(access)func withMutation<_M, _R>(
                keyPath: \(swift)KeyPath<\(name), _M>, _ mutation: () throws -> _R
            ) rethrows -> _R {
                try _$observationRegistrar.withMutation(of: self, keyPath: keyPath, mutation)
            }
            """
    }

    /// An initializer writes the class's own variables before the superclass has any: each class has backing data.
    /// These become one when the model is first used.
    private func subclassMembers(of superclass: String) -> String {
        let (name, data) = (declaration.name, ModuleNames.swiftData)
        return """
            private var _$backingData: any \(data)BackingData<\(name)> = \(name).createBackingData()\(mark)

            \(access)override var persistentBackingData: any \(data)BackingData<\(superclass).Root> {
                get {
                    let data = super.persistentBackingData
                    guard let joined: any \(data)BackingData<\(superclass).Root> = _$backingData._joined(with: data) else {
                        return data
                    }
                    super.persistentBackingData = joined
                    return joined
                }
                set {
                    super.persistentBackingData = newValue
                    _$backingData = newValue._generateCurrentClassBackingData()
                }
            }

            \(access)override class var schemaMetadata: [\(data)Schema.PropertyMetadata] {
                var metadata: [\(data)Schema.PropertyMetadata] = []
            \(metadata)
                return metadata
            }

            \(access)required init(backingData: any \(data)BackingData<\(superclass).Root>) {
            \(emptyPeers)
                self._$backingData = backingData._generateCurrentClassBackingData()
                super.init(backingData: backingData)
            }

            \(access)struct _SwiftDataNoType {
                \(access)init() {}
            }
            """
    }

    // MARK: Metadata

    private var metadata: String {
        declaration.members.compactMap(entry).map { "    \($0)" }.joined(separator: "\n")
    }

    private var emptyPeers: String {
        lines { "    _\($0.name) = _SwiftDataNoType()" }
    }

    /// A line for each persisted variable, between the conditions that these are under.
    private func lines(_ line: (ClassDeclaration.Variable) -> String) -> String {
        declaration.members.compactMap { member -> String? in
            switch member {
            case .condition(let text): text
            case .variable(let variable): variable.isPersisted ? line(variable) : nil
            case .macro: nil
            }
        }.joined(separator: "\n")
    }

    private func entry(_ member: ClassDeclaration.Member) -> String? {
        let data = ModuleNames.swiftData
        switch member {
        case .condition(let text): return text
        case .macro(let name, let text) where name == "Unique" || name == "Index":
            return "metadata.append(\(data)Schema.PropertyMetadata(name: \"SwiftData.Schema.\(name)\", "
                + "keypath: \\\(data)Schema.encodingVersion, metadata: \(data)Schema.\(text)))"
        case .macro: return nil
        case .variable(let variable):
            guard variable.isPersisted else { return nil }
            return "metadata.append(\(data)Schema.PropertyMetadata(name: \(variable.literalName), "
                + "keypath: \\\(declaration.name).\(variable.spelledName), "
                + "defaultValue: \(variable.defaultValue), metadata: \(variable.metadata)))"
        }
    }

    // MARK: Other roles

    /// The attribute that the macro gives a member.
    package static func attribute(ofMember source: String) -> MacroExpansion {
        guard let variable = ClassDeclaration.Variable(source), variable.isPersisted else { return MacroExpansion() }
        let macro = variable.isTransformable ? "_TransformablePersistedProperty" : "_PersistedProperty"
        return MacroExpansion(source: "@\(ModuleNames.swiftData)\(macro)")
    }

    /// The conformances of a model.
    ///
    /// - Parameters:
    ///   - type: the class, with the types that it is in.
    ///   - conformances: the protocols that it does not conform to yet.
    /// - Returns: the extensions.
    package static func extensions(of type: String, conformances: [String]) -> MacroExpansion {
        var extensions: [String] = []
        if conformances.contains("PersistentModel") {
            extensions.append(
                "extension \(type): \(ModuleNames.isolation)\(ModuleNames.swiftData)PersistentModel {}")
        }
        if conformances.contains("Observable") {
            extensions.append("extension \(type): \(ModuleNames.isolation)\(ModuleNames.observation)Observable {}")
        }
        // A subclass has its superclass's.
        guard conformances.contains("Sendable") else {
            return MacroExpansion(source: extensions.joined(separator: "\n\n"))
        }
        extensions.append(
            """
            @available(*, unavailable, message: "PersistentModels are not Sendable, consider utilizing a ModelActor or use \
            \(type)'s persistentModelID instead.")
            extension \(type): \(ModuleNames.swift)Sendable {}
            """)
        return MacroExpansion(source: extensions.joined(separator: "\n\n"))
    }
}

extension ClassDeclaration.Variable {
    /// Whether the macro makes it a property of the store. Constants are properties, too, where the compiler lets them
    /// have accessors: in the mode of Swift 5, with a warning.
    var isPersisted: Bool {
        !isComputed && !isOther && !name.hasPrefix("_$") && attribute("Transient") == nil
            && !attributes.contains { ["_PersistedProperty", "_TransformablePersistedProperty"].contains($0.name) }
    }

    var isOptionalType: Bool {
        guard let type else { return false }
        return type.hasSuffix("?") || type.hasSuffix("!") || type.hasPrefix("Optional<")
    }

    /// Whether the type or, without one, the initial value is written as an array, or as a dictionary.
    var isArray: Bool {
        let text = type ?? value ?? ""
        return text.hasPrefix("[") || text.hasPrefix("Array<")
    }

    /// Whether the type may be a model's: it is not one of the common types of values, and no attribute says otherwise.
    var mayBeRelationship: Bool {
        guard attribute("Attribute") == nil else { return false }
        guard let type else { return attribute("Relationship") != nil }
        return !Self.typesOfValues.contains(type.filter { !"?![] ".contains($0) })
    }

    private static let typesOfValues: Set = [
        "Bool", "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64", "Double",
        "Float", "Decimal", "String", "Date", "Data", "UUID", "URL",
    ]

    var isTransformable: Bool {
        attribute("Attribute")?.arguments?.contains(".transformable") ?? false
    }

    /// A name that is a keyword stands in backticks.
    fileprivate var spelledName: String { "`\(name)`" }

    fileprivate var literalName: String { "\"\(name.replacing("\"", with: "\\\""))\"" }

    /// The initial value, of the property's type where it is written: `.novel` and `[]` have none of their own.
    fileprivate var defaultValue: String {
        guard let value, !value.isEmpty else { return "nil" }
        guard let type else { return "(\(value)) as Any?" }
        let plain = type.hasSuffix("!") ? "\(type.dropLast())?" : type
        return "(\(value)) as \(plain)"
    }

    fileprivate var metadata: String {
        for attribute in attributes where attribute.name == "Attribute" || attribute.name == "Relationship" {
            return "\(ModuleNames.swiftData)Schema.\(attribute.name)(\(attribute.arguments ?? ""))"
        }
        return "nil"
    }
}
