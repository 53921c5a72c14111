import CompactCollections
import CoreDataModel

// Entities that the program does not name.
extension ModelReconciliation {
    mutating func leaveAlone() {
        let taken = Set(program.entities.map { $0.name.lowercased() })
        for var entity in stored.entities where presentNames[entity.name] == nil {
            guard !rules.removedEntities.contains(entity.name) else { continue }
            guard !taken.contains(entity.name.lowercased()) else {
                let other = program.entities.first { $0.name.lowercased() == entity.name.lowercased() }
                lose(nil, of: entity, .replaced(by: other.flatMap { formerNames[$0.name] } ?? ""))
                continue
            }
            let former = entity
            entity.properties = former.properties.compactMap { property in
                guard var relationship = property.relationship else { return property }
                guard let destination = relationship.destinationName else { return property }
                if rules.removedEntities.contains(destination) {
                    if !stored.isImplied(property, of: former) {
                        lose(property.name, of: former, .destinationRemoved(destination))
                    }
                    return nil
                }
                guard let present = presentNames[destination] else { return property }
                guard !dropped.contains(property.name, of: former.name),
                    let inverse = relationship.inverseName,
                    model.entity(named: present)?.property(named: inverse)?.relationship?.destinationName
                        == former.name
                else { return nil }
                relationship.destinationName = present
                var property = property
                property.kind = .relationship(relationship)
                return property
            }
            leftAlone.append(entity.name)
            model.entities.append(entity)
        }
        for (name, request) in stored.fetchRequestTemplates
        where model.fetchRequestTemplates[name] == nil && leftAlone.contains(request.entityName) {
            model.fetchRequestTemplates[name] = request
        }
    }
}
