extension NSAttributeType {
    private static let xmlNames: [(type: NSAttributeType, name: String)] = [
        (.integer16AttributeType, "int16"), (.integer32AttributeType, "int32"), (.integer64AttributeType, "int64"),
        (.decimalAttributeType, "decimal"), (.doubleAttributeType, "double"), (.floatAttributeType, "float"),
        (.stringAttributeType, "string"), (.booleanAttributeType, "bool"), (.dateAttributeType, "date"),
        (.binaryDataAttributeType, "binary"), (.UUIDAttributeType, "uuid"), (.URIAttributeType, "uri"),
        (.transformableAttributeType, "transformable"), (.compositeAttributeType, "composite"),
    ]

    /// The name of the type in XML stores.
    package var xmlName: String { Self.xmlNames.first { $0.type == self }?.name ?? "undefined" }

    /// The type with a name in XML stores; nil for an unknown name.
    package init?(xmlName: String) {
        guard let type = Self.xmlNames.first(where: { $0.name == xmlName })?.type else { return nil }
        self = type
    }
}
