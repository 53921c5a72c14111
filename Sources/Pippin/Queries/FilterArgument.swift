import StoreSession

/// A value of a program, as an argument of a format or in a Swift predicate.
enum FilterArgument {
    /// The value in the form that the predicate language takes: what a store keeps for it. A value is coded for that,
    /// as its property is, and each value of a list.
    static func operand(_ value: Any) -> Any {
        if isBasic(type(of: value)) { return value }
        switch value {
        case let reference as any ModelReference:
            guard let key = try? reference.keyValue() else { return value }
            return ModelArgument(type: type(of: reference).target, uid: key)
        case let model as any CoreModel:
            guard let key = try? model.keyValue() else { return value }
            return ModelArgument(type: type(of: model), uid: key)
        case let list as any ModelCollection where isModel(type(of: list).member):
            return list.members.map(operand)
        // The type is asked, since each value can be cast to an object on Linux, in a box.
        case _ where type(of: value) is NSObject.Type || value is [AnyHashable: Any]: return value
        case let optional as any OptionalValue: return optional.wrappedValue.map { operand($0) } ?? value
        case let list as any Collection: return operands(of: list)
        case let value as any Encodable:
            guard let stored = try? AttributeEncoder.comparable(value) else { return value }
            return hasOwnOrder(type(of: value)) ? CaseArgument(value, stored: stored) : stored
        default: return value
        }
    }

    private static func operands<Values: Collection>(of values: Values) -> Any {
        isBasic(Values.Element.self) ? values : values.map { operand($0) }
    }

    /// Whether the predicate language takes values of a type as they are.
    private static func isBasic(_ type: Any.Type) -> Bool {
        type == String.self || type == Int.self || type == Double.self || type == Bool.self
            || AttributeKind(of: type) != nil || type is any BinaryInteger.Type || type is any BinaryFloatingPoint.Type
            || type is any StringProtocol.Type
    }

    private static func isModel(_ type: Any.Type) -> Bool {
        type is any ModelReference.Type || type is any CoreModel.Type
    }
}

extension Filter {
    /// The content of a Swift predicate.
    static func term(_ predicate: Predicate<Model>) -> FilterTerm {
        do {
            let tree = try predicateTree(
                of: predicate, constant: { constantTree($0.map(FilterArgument.operand)) }, ordersRawValues: false)
            return .predicate(makePredicate(try tree.withStoredCases(of: "\(Model.self)")))
        } catch let error as EnumerationOrderError {
            return .failed(
                PersistenceError.unknownOrder(property: error.value, entity: "\(Model.self)", type: error.type))
        } catch { return .malformed(error) }
    }

    /// The content of a format.
    static func term(_ format: String, _ arguments: [Any]) -> FilterTerm {
        do {
            let operands = arguments.map(FilterArgument.operand)
            let predicate = try NSPredicate(parsing: format, arguments: operands)
            guard operands.contains(where: CaseArgument.isWithin) else { return .predicate(predicate) }
            let tree = try predicateTree(of: predicate)
            return .predicate(makePredicate(try tree.withStoredCases(of: "\(Model.self)")))
        } catch { return .malformed(error) }
    }
}
